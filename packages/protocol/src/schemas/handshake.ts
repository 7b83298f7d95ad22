import type * as z from 'zod/mini';
import { describe, flag, text } from '../fields.js';
import { defaulted, nullable, struct } from '../struct.js';
import { EnvironmentInfo } from './environment.js';

export const InitializeParams = struct(
  'InitializeParams',
  {
    clientName: text('Name of the client, for logs.'),
    resumeSessionId: nullable(text('Session to attach to again, within 30 s of its last connection.'), {
      omittable: true,
    }),
  },
  {
    extensions: {
      lifecycleEvents: defaulted(flag('Send `process/started` and `process/failed`. Default: false.')),
      answersRequests: defaulted(
        flag('The client answers every request, also of methods that it does not know. Default: false.'),
      ),
      binaryOutput: defaulted(
        flag('Send output as binary frames instead of `process/output`. Default: false.'),
      ),
    },
  },
);
export type InitializeParams = z.output<typeof InitializeParams>;

/** Older servers leave out everything but `sessionId`, the oldest everything but `protocolVersion`. */
export const InitializeResult = struct(
  'InitializeResponse',
  {
    sessionId: text('Id of the session; hand it to a later `initialize` to resume.'),
    environmentInfo: nullable(describe(EnvironmentInfo, 'What `environment/info` answers.'), {
      omittable: true,
    }),
    protocolVersion: nullable(text('Generation of the protocol that older clients ask for.'), {
      omittable: true,
    }),
  },
  {
    extensions: {
      binaryOutput: defaulted(
        flag(
          'Output comes as binary frames. Told to clients that asked; false where the transport has none.',
        ),
      ),
    },
  },
);
export type InitializeResult = z.output<typeof InitializeResult>;

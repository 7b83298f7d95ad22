import type * as z from 'zod/mini';
import { flag, list, oneOf, tagged } from '../fields.js';
import { defaulted } from '../struct.js';
import { absolutePath } from './fields.js';

const networkAccess = flag('The network may be used. Default: false.');

/** What a command may touch. */
export const SandboxPolicy = tagged('SandboxPolicyDeserialize', 'type', {
  dangerFullAccess: {},
  readOnly: { networkAccess: defaulted(networkAccess) },
  externalSandbox: {
    networkAccess: defaulted(
      oneOf(['restricted', 'enabled'], 'What the sandbox around the server allows. Default: restricted.'),
    ),
  },
  workspaceWrite: {
    writableRoots: defaulted(list(absolutePath('A directory.'), 'Writable beside the working directory.')),
    networkAccess: defaulted(networkAccess),
    excludeTmpdirEnvVar: defaulted(flag('`$TMPDIR` is not writable. Default: false.')),
    excludeSlashTmp: defaulted(flag('`/tmp` is not writable. Default: false.')),
  },
});
export type SandboxPolicy = z.output<typeof SandboxPolicy>;

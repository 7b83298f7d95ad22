import { fitsOutputFrame, OutputFrameEncoder } from '@exec-server/protocol';
import { OutputEncoder } from '@exec-server/rpc/node';
import type { RetainedChunk } from '../../output/retained-log.js';
import type { ConnectionScope } from '../dialect.js';

/** The messages that carry the output of one process over one connection. */
export interface OutputMessages {
  /** Messages of the same form for the same process and session are the same bytes on every connection. */
  readonly form: 'json' | 'binary';
  encode(chunk: RetainedChunk): Uint8Array;
  send(message: Uint8Array): void;
}

/**
 * Binary frames where the client has agreed to them, `process/output` notifications elsewhere, and also for a process
 * whose id is too long for a frame.
 *
 * @param sessionId told beside the process id, to clients that see processes of several sessions
 */
export function chooseOutputMessages(
  connection: Pick<ConnectionScope, 'binaryOutput' | 'sendBinary' | 'sendBytes'>,
  processId: string,
  sessionId?: string,
): OutputMessages {
  if (connection.binaryOutput && fitsOutputFrame(processId)) {
    const encoder = new OutputFrameEncoder(processId, sessionId);
    return {
      form: 'binary',
      encode: ({ seq, stream, data }) => encoder.encode(seq, stream, data),
      send: (frame) => connection.sendBinary(frame),
    };
  }
  const encoder = new OutputEncoder('process/output', processId, sessionId);
  return {
    form: 'json',
    encode: ({ seq, stream, data }) => encoder.encode(seq, stream, data),
    send: (line) => connection.sendBytes(line),
  };
}

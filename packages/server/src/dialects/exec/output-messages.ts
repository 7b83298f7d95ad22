import { fitsOutputFrame, type OutputFrame, OutputFrameEncoder } from '@exec-server/protocol';
import { OutputEncoder, spareBuffers } from '@exec-server/rpc/node';
import type { RetainedChunk } from '../../output/retained-chunk.js';
import type { ConnectionScope } from '../dialect.js';

/** What an object takes in a queue beside its output, so that many small ones are bounded too. */
const OBJECT_OVERHEAD_BYTES = 64;

/** A binary frame before it is put together. */
interface FrameParts {
  readonly head: Uint8Array;
  readonly data: Uint8Array;
}

/** The messages that carry the output of one process over one connection. */
export interface OutputMessages<M extends object = object> {
  /** Messages of the same form for the same process and session are the same on every connection. */
  readonly form: 'json' | 'binary' | 'object';
  encode(chunk: RetainedChunk): M;
  /** Takes what `encode` of the same form has made. */
  send(message: M): void;
  /** Encodes and sends a chunk for the only one who is told in this form; its memory can be used again after that. */
  sendOnce(chunk: RetainedChunk): void;
}

/**
 * Bytes as they are where the client has agreed to them: the retained ones themselves for a client in this process,
 * binary frames for all others. `process/output` notifications elsewhere, and for a process whose id is too long for a
 * frame.
 *
 * @param sessionId told beside the process id, to clients that see processes of several sessions
 */
export function chooseOutputMessages(
  connection: Pick<
    ConnectionScope,
    'binaryOutput' | 'sendBinary' | 'sendBytes' | 'carriesObjects' | 'sendObject'
  >,
  processId: string,
  sessionId?: string,
): OutputMessages {
  if (connection.binaryOutput && connection.carriesObjects) return handOver(connection, processId, sessionId);
  if (connection.binaryOutput && fitsOutputFrame(processId)) {
    const encoder = new OutputFrameEncoder(processId, sessionId);
    return {
      form: 'binary',
      // The data goes out as it is retained: copies are garbage, and V8 marks its whole heap for every 64 MiB of it.
      encode: ({ seq, stream, data }) => ({ head: encoder.encodeHead(seq, stream), data }),
      send: ({ head, data }: FrameParts) => connection.sendBinary(head, data),
      sendOnce: (chunk) =>
        connection.sendBinary(encoder.encodeHead(chunk.seq, chunk.stream), chunk.borrow(), () =>
          chunk.release(),
        ),
    };
  }
  const encoder = new OutputEncoder('process/output', processId, sessionId);
  return {
    form: 'json',
    encode: ({ seq, stream, data }) => encoder.encode(seq, stream, data),
    send: (line: Uint8Array) => connection.sendBytes(line),
    sendOnce(chunk) {
      const line = encoder.encode(chunk.seq, chunk.stream, chunk.borrow());
      chunk.release();
      connection.sendBytes(line, () => spareBuffers.give(line));
    },
  };
}

function handOver(
  connection: Pick<ConnectionScope, 'sendObject'>,
  processId: string,
  sessionId: string | undefined,
): OutputMessages<OutputFrame> {
  const ids = sessionId === undefined ? { processId } : { processId, sessionId };
  const encode = ({ seq, stream, data }: RetainedChunk) => ({ ...ids, seq, stream, data });
  const send = (output: OutputFrame) =>
    connection.sendObject(output, output.data.length + OBJECT_OVERHEAD_BYTES);
  return { form: 'object', encode, send, sendOnce: (chunk) => send(encode(chunk)) };
}

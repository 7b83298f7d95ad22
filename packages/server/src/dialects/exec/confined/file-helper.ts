import { type RequestId, RpcError } from '@exec-server/protocol';
import {
  encodeFrame,
  FrameKind,
  FrameReader,
  type HelperCall,
  type HelperFailure,
} from '../../../sandbox/files/frames.js';
import { EncodedResponse } from '../../dialect.js';
import { type ContentContext, LargeReads } from '../../file-content.js';
import { HELPER_METHODS, isHelperMethod } from './helper-methods.js';

/*
 * The program that does file operations inside of a sandbox. It is told what to do on its standard input, by the server
 * that started it and by nobody else, and answers on its standard output.
 */

/** Largest call, in bytes; the server has limits of its own below it. */
const MAX_CALL_BYTES = 1024 * 1024 * 1024;

const largeReads = new LargeReads();
const running = new Map<number, AbortController>();

const reader = new FrameReader(MAX_CALL_BYTES, ({ kind, id, body }) => {
  if (kind === FrameKind.cancel) running.get(id)?.abort();
  else void answer(id, JSON.parse(Buffer.from(body).toString()) as HelperCall);
});

process.stdin.on('data', (chunk: Buffer) => reader.push(chunk));
// Whoever could want an answer is gone.
process.stdin.on('end', () => process.exit());

async function answer(id: number, call: HelperCall): Promise<void> {
  const controller = new AbortController();
  running.set(id, controller);
  try {
    const result = await run(call, controller.signal);
    if (result instanceof EncodedResponse) send(FrameKind.response, id, result.line, result.onFree);
    else send(FrameKind.result, id, encode(result));
  } catch (error) {
    send(FrameKind.failure, id, encode(describe(error)));
  } finally {
    running.delete(id);
  }
}

function run({ method, params, requestId }: HelperCall, signal: AbortSignal): Promise<unknown> {
  if (!isHelperMethod(method)) throw new Error(`unknown method ${method}`);
  // Which params belong to which method is for the server to know.
  const handle = HELPER_METHODS[method] as (params: unknown, context: ContentContext) => Promise<unknown>;
  return handle(params, {
    requestId: parseRequestId(requestId),
    signal,
    largeReads,
    place: { park: (wait) => wait },
  });
}

function parseRequestId(text: string): RequestId {
  return text.startsWith('"') ? (JSON.parse(text) as string) : BigInt(text);
}

function describe(error: unknown): HelperFailure {
  if (error instanceof RpcError) return { code: error.code, message: error.message, data: error.data };
  return { message: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}

function encode(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}

function send(kind: FrameKind, id: number, body: Uint8Array, onFree?: () => void): void {
  const [header] = encodeFrame({ kind, id, body });
  process.stdout.write(header);
  process.stdout.write(body, () => onFree?.());
}

import { createReadStream } from 'node:fs';
import { JobError, messageOf } from '../errors.js';

/** A file as text, in pieces. Rejects with `JobError` for a file that cannot be read or is not UTF-8. */
export async function* readText(path: string, kind: 'csv' | 'jsonl'): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let line = 1;
  const decode = (bytes?: Uint8Array): string => {
    try {
      return decoder.decode(bytes, { stream: bytes !== undefined });
    } catch (error) {
      throw new JobError('input', `failed to parse ${kind} input: invalid UTF-8 at line ${line} or after`, {
        cause: error,
      });
    }
  };
  for await (const bytes of readBytes(path, kind)) {
    const text = decode(bytes);
    line += countLineEnds(text);
    yield text;
  }
  yield decode();
}

async function* readBytes(path: string, kind: string): AsyncGenerator<Uint8Array> {
  try {
    yield* createReadStream(path) as AsyncIterable<Uint8Array>;
  } catch (error) {
    throw new JobError('input', `failed to read ${kind} input ${path}: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

/** How many lines end in a text: by LF, by CRLF, or by CR alone. */
export function countLineEnds(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === LF) count++;
    else if (code === CR && text.charCodeAt(at + 1) !== LF) count++;
  }
  return count;
}

const LF = 10;
const CR = 13;

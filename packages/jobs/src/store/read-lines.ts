import type { FileHandle } from 'node:fs/promises';

/** A line of a file. */
export interface FileLine {
  /** Without its end. */
  readonly text: string;
  /** Where it begins, in bytes. */
  readonly offset: number;
  /** With its end, in bytes. */
  readonly length: number;
  /** False for a last line that has no end. */
  readonly isWhole: boolean;
}

const PIECE_BYTES = 256 * 1024;
const LF = 10;

/** The lines of a file from its beginning, wherever the handle is. */
export async function* readLines(file: FileHandle): AsyncGenerator<FileLine> {
  let rest: Buffer[] = [];
  let restLength = 0;
  let offset = 0;
  for (let position = 0; ; ) {
    const piece = Buffer.allocUnsafe(PIECE_BYTES);
    const { bytesRead } = await file.read(piece, 0, PIECE_BYTES, position);
    if (bytesRead === 0) break;
    position += bytesRead;
    let begin = 0;
    for (;;) {
      const end = piece.subarray(0, bytesRead).indexOf(LF, begin);
      if (end === -1) break;
      const bytes = Buffer.concat([...rest, piece.subarray(begin, end)]);
      yield { text: bytes.toString('utf8'), offset, length: bytes.length + 1, isWhole: true };
      offset += bytes.length + 1;
      rest = [];
      restLength = 0;
      begin = end + 1;
    }
    rest.push(piece.subarray(begin, bytesRead));
    restLength += bytesRead - begin;
  }
  if (restLength > 0) {
    const text = Buffer.concat(rest).toString('utf8');
    yield { text, offset, length: restLength, isWhole: false };
  }
}

import { spareBuffers } from './spare-buffers.js';
import { base64Length, writeBase64 } from './write-base64.js';

/** A part of a message: text, bytes as they are, or bytes that it spells in base64. */
export type LinePiece = string | Uint8Array | { readonly base64: Uint8Array };

/** Puts a line together in memory of its own, which {@link spareBuffers} takes back. */
export function joinLine(pieces: readonly LinePiece[]): Buffer<ArrayBuffer> {
  const line = spareBuffers.take(pieces.reduce((sum, piece) => sum + measure(piece), 0));
  let at = 0;
  for (const piece of pieces) {
    if (typeof piece === 'string') at += line.write(piece, at);
    else if ('base64' in piece) at += writeBase64(piece.base64, line, at);
    else {
      line.set(piece, at);
      at += piece.length;
    }
  }
  return line;
}

function measure(piece: LinePiece): number {
  if (typeof piece === 'string') return Buffer.byteLength(piece);
  return 'base64' in piece ? base64Length(piece.base64.length) : piece.length;
}

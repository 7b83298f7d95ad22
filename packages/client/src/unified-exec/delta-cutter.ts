import { completeLength, decodeText } from '../process/utf8.js';
import { MAX_DELTA_BYTES, MAX_DELTAS } from './limits.js';

/** Cuts output into texts of bounded length between characters, and makes no more than so many of them. */
export class DeltaCutter {
  #left = MAX_DELTAS;

  cut(bytes: Uint8Array): readonly string[] {
    const texts: string[] = [];
    let rest = bytes;
    while (rest.length > 0 && this.#left > 0) {
      const piece = rest.subarray(0, MAX_DELTA_BYTES);
      // Nothing but the beginning of a character: its end never came.
      const length = completeLength(piece) || piece.length;
      texts.push(decodeText(piece.subarray(0, length)));
      rest = rest.subarray(length);
      this.#left--;
    }
    return texts;
  }
}

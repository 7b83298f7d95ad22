import { MAX_RESULT_BYTES } from '../results/schema.js';

const SPACES = [0x20, 0x09, 0x0a, 0x0d];
const OPENING_BRACE = 0x7b;

/** Collects stdout for as long as it can be one JSON object. */
export class StdoutResult {
  #pieces: Uint8Array[] = [];
  #bytes = 0;
  #isPossible = true;
  #hasBegun = false;

  take(data: Uint8Array): void {
    if (!this.#isPossible) return;
    if (!this.#hasBegun) {
      const first = data.find((byte) => !SPACES.includes(byte));
      if (first === undefined) return;
      this.#hasBegun = true;
      if (first !== OPENING_BRACE) this.giveUp();
    }
    this.#bytes += data.byteLength;
    if (this.#bytes > MAX_RESULT_BYTES) this.giveUp();
    if (this.#isPossible) this.#pieces.push(data);
  }

  /** Something is missing. */
  giveUp(): void {
    this.#isPossible = false;
    this.#pieces = [];
  }

  /** All of it, where it may be an object. */
  get text(): string | undefined {
    if (!this.#isPossible || !this.#hasBegun) return undefined;
    return Buffer.concat(this.#pieces).toString('utf8');
  }
}

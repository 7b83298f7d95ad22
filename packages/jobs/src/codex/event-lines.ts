/** Longest line that is read, in bytes; a longer one is skipped. */
export const MAX_EVENT_BYTES = 16 * 1024 * 1024;

const LF = 10;

/** Cuts bytes into lines. */
export class EventLines {
  #pieces: Uint8Array[] = [];
  #bytes = 0;
  #isSkipping = false;

  constructor(
    private readonly onLine: (line: string) => void,
    private readonly onSkipped: () => void,
  ) {}

  take(data: Uint8Array): void {
    let begin = 0;
    for (;;) {
      const end = data.indexOf(LF, begin);
      if (end === -1) break;
      this.#keep(data.subarray(begin, end));
      this.#finish();
      begin = end + 1;
    }
    this.#keep(data.subarray(begin));
  }

  /** Something is missing: the line that it was in is no line. */
  gap(): void {
    this.#pieces = [];
    this.#isSkipping = true;
    this.onSkipped();
  }

  /** The last line may have no end. */
  end(): void {
    if (this.#bytes > 0) this.#finish();
  }

  #keep(data: Uint8Array): void {
    if (this.#isSkipping) return;
    this.#bytes += data.byteLength;
    if (this.#bytes > MAX_EVENT_BYTES) this.gap();
    else this.#pieces.push(data);
  }

  #finish(): void {
    if (!this.#isSkipping) this.onLine(Buffer.concat(this.#pieces).toString('utf8'));
    this.#pieces = [];
    this.#bytes = 0;
    this.#isSkipping = false;
  }
}

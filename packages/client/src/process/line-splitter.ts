/** Longest line that is held together, in characters; a longer one is handed on in pieces of this size or more. */
export const MAX_LINE_CHARACTERS = 1024 * 1024;

/** Decodes one stream and cuts it into lines, without their ends. A last line without an end counts. */
export class LineSplitter {
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  #rest = '';

  /** What is there of a line that has not ended yet. */
  get rest(): string {
    return this.#rest;
  }

  /** The lines that end in these bytes. */
  push(bytes: Uint8Array): string[] {
    return this.#split(this.#decoder.decode(bytes, { stream: true }));
  }

  /** The lines that are left at the end of the stream. */
  end(): string[] {
    const lines = this.#split(this.#decoder.decode());
    if (this.#rest !== '') lines.push(this.#rest);
    this.#rest = '';
    return lines;
  }

  #split(text: string): string[] {
    const lines = text.split('\n');
    lines[0] = this.#rest + lines[0];
    this.#rest = lines.pop() ?? '';
    const ended = lines.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
    if (this.#rest.length > MAX_LINE_CHARACTERS) {
      ended.push(this.#rest);
      this.#rest = '';
    }
    return ended;
  }
}

/** Prefix of a recorded base64 string that was decoded to make its placeholders visible. */
const DECODED_TEXT = '$TEXT:';

const PLACEHOLDER =
  /\$(TMPROOT|TMP|HOME|CODEX_HOME|CWD|BINDIR|SESSION\d+|PORT|PEER|MS|ISO|DATE|HOSTNAME|PROVIDER|JWT|PATH|PID|TOKEN_FILE|USER_AGENT)/g;

const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}';

/** What a placeholder without a value may stand for. */
const FREE_FORMS: Readonly<Record<string, string>> = {
  PORT: '\\d+',
  PEER: '[0-9a-f.:\\[\\]]+:\\d+',
  ISO: '\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(?:\\.\\d+)?Z',
  DATE: '[A-Z][a-z]{2}, \\d\\d [A-Z][a-z]{2} \\d{4} \\d\\d:\\d\\d:\\d\\d GMT',
  // Some programs print numbers in columns.
  PID: ' *\\d+',
  USER_AGENT: 'probe/\\d\\S* \\([^()]+; [^()]+\\) \\S+ \\(probe; 0\\.1\\.0\\)',
};

/** What `$GEN: …` stands for: parameters too long to be recorded. */
const GENERATED: Readonly<Record<string, (bindings: Bindings) => unknown>> = {
  '$GEN: 129 roots': (bindings) =>
    Array.from({ length: 129 }, (_, index) => ({ id: `r${index}`, path: bindings.fillText('file://$TMP') })),
};

/** The values that stand for a recording's placeholders in one run. */
export class Bindings {
  readonly #values = new Map<string, string>();

  bind(name: string, value: string): void {
    this.#values.set(name, value);
  }

  /** Puts the known values into a recorded string. */
  fillText(text: string): string {
    return text.replace(PLACEHOLDER, (whole, name: string) => this.#values.get(name) ?? whole);
  }

  /** Puts the known values into everything below `value`. */
  fill<T>(value: T): T {
    return this.#fill(value) as T;
  }

  #fill(value: unknown): unknown {
    if (typeof value === 'string') return GENERATED[value]?.(this) ?? this.fillText(value);
    if (Array.isArray(value)) return value.map((item) => this.#fill(item));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, this.#fill(item)]));
  }

  /** The bytes of a recorded chunk. */
  decodeChunk(chunk: string): Buffer {
    return chunk.startsWith(DECODED_TEXT)
      ? Buffer.from(this.fillText(chunk.slice(DECODED_TEXT.length)))
      : Buffer.from(chunk, 'base64');
  }

  /** Whether `actual` can be what was recorded; a session id seen for the first time is kept. */
  matches(expected: string, actual: unknown): boolean {
    if (expected === '$MS') return typeof actual === 'number' && Number.isInteger(actual) && actual > 0;
    if (typeof actual !== 'string') return false;
    if (expected.startsWith(DECODED_TEXT)) {
      return this.#matchesText(expected.slice(DECODED_TEXT.length), Buffer.from(actual, 'base64').toString());
    }
    return this.#matchesText(expected, actual);
  }

  #matchesText(expected: string, actual: string): boolean {
    const session = /^\$(SESSION\d+)$/.exec(expected)?.[1];
    if (session !== undefined && !this.#values.has(session)) {
      if (!new RegExp(`^${UUID}$`).test(actual)) return false;
      this.#values.set(session, actual);
      return true;
    }
    const filled = this.fillText(expected);
    if (filled === actual) return true;
    const names = [...filled.matchAll(PLACEHOLDER)];
    if (names.length === 0) return false;
    let pattern = '';
    let end = 0;
    for (const match of names) {
      pattern += escapeRegExp(filled.slice(end, match.index)) + (FREE_FORMS[match[1] ?? ''] ?? '.*');
      end = match.index + match[0].length;
    }
    return new RegExp(`^${pattern}${escapeRegExp(filled.slice(end))}$`, 's').test(actual);
  }
}

function escapeRegExp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

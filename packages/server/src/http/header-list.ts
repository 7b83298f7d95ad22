/** A header with its name in lower case. The value has one character per byte that is sent. */
export type Header = readonly [name: string, value: string];

/** Headers by name, in order of first appearance: repeats stand side by side, in their own order. */
export function groupByName(headers: Iterable<Header>): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const [name, value] of headers) {
    const values = groups.get(name);
    if (values === undefined) groups.set(name, [value]);
    else values.push(value);
  }
  return groups;
}

export function hasHeader(headers: readonly Header[], name: string): boolean {
  return headers.some(([candidate]) => candidate === name);
}

/** The value of `authorization` or `proxy-authorization` for the user and the password of a URL, if it has any. */
export function basicCredentials({ username, password }: URL): string | undefined {
  if (username === '' && password === '') return undefined;
  const credentials = `${decodePercent(username)}:${decodePercent(password)}`;
  return `Basic ${Buffer.from(credentials, 'latin1').toString('base64')}`;
}

/** Undoes percent-encoding byte by byte; a `%` that starts none stays. */
function decodePercent(text: string): string {
  return text.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

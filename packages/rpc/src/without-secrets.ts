/** An address as it may stand in labels and errors: without a password, and without a query, which often holds a token. */
export function withoutSecrets(url: string): string {
  if (!URL.canParse(url)) return url;
  const parsed = new URL(url);
  if (parsed.username === '' && parsed.password === '' && parsed.search === '' && parsed.hash === '')
    return url;
  parsed.username = '';
  parsed.password = '';
  parsed.search = '';
  parsed.hash = '';
  return parsed.href;
}

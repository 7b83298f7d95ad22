/** Variables of this program begin with this: its tokens, and where its servers are. In upper case, as all names here. */
const OWN_PREFIX = 'EXEC_SERVER_';

/**
 * Variables from which the server's process takes credentials of its own: for the proxies that it uses, whose URLs have
 * users and passwords, and for where an OpenTelemetry SDK that is registered in it sends to.
 */
const CREDENTIAL_VARIABLES: ReadonlySet<string> = new Set(['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY']);
const CREDENTIAL_PREFIXES: readonly string[] = [OWN_PREFIX, 'OTEL_EXPORTER_'];

/** Whether a variable is one of this program itself, in any case. */
export function isOwnVariable(name: string): boolean {
  return name.toUpperCase().startsWith(OWN_PREFIX);
}

/** Whether a variable may hold credentials that the server itself uses, in any case. No client may send it anywhere. */
export function holdsServerCredential(name: string): boolean {
  const upper = name.toUpperCase();
  return CREDENTIAL_VARIABLES.has(upper) || CREDENTIAL_PREFIXES.some((prefix) => upper.startsWith(prefix));
}

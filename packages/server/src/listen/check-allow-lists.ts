import { ListenError } from './listen-error.js';
import type { ListenOptions } from './listen-options.js';

/** Refuses allowed origins and hosts that no browser could ever send, which would be allowed in vain. */
export function checkAllowLists({ allowedOrigins = [], allowedHosts = [] }: ListenOptions): void {
  for (const origin of allowedOrigins) {
    const expected = spellOrigin(origin);
    if (expected === origin) continue;
    throw new ListenError(
      'invalid_options',
      `\`${origin}\` is no origin${expected === undefined ? '' : `; expected \`${expected}\``}`,
    );
  }
  for (const host of allowedHosts) {
    if (/^[^\s/@]+$/.test(host)) continue;
    throw new ListenError('invalid_options', `\`${host}\` is no host; expected \`NAME\` or \`NAME:PORT\``);
  }
}

/** The origin as a browser spells it. Those of schemes that it does not know, such as extensions', stay as they are. */
function spellOrigin(origin: string): string | undefined {
  if (!URL.canParse(origin)) return undefined;
  const url = new URL(origin);
  return url.origin === 'null' ? origin : url.origin;
}

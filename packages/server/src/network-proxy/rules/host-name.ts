import { isIP } from 'node:net';

/** Characters that would make something else of a host in a URL; a colon is only part of an IPv6 address. */
const FOREIGN_CHARACTERS = /[\p{Cc}\s/\\?#@%:[\]]/u;

/** IPv4 inside of IPv6, as the URL parser spells it. */
const MAPPED_IPV4 = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/;

/**
 * The one spelling of a host that rules are about: lower case, no dot at the end, no brackets, international names as
 * they are looked up, and every address in its usual form, however it was written (`0x7f.1`, `::ffff:127.0.0.1`). Nothing
 * for what is no host.
 */
export function normalizeHost(text: string): string | undefined {
  const bare = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text;
  // A zone makes another address of a link-local one only; rules are about the address.
  const [address = ''] = bare.split('%');
  if (isIP(address) === 6) return normalizeIpv6(address);
  if (bare === '' || FOREIGN_CHARACTERS.test(bare)) return undefined;
  const url = `http://${bare}/`;
  if (!URL.canParse(url)) return undefined;
  const host = trimDots(new URL(url).hostname);
  return host === '' ? undefined : host;
}

/** A name without the dots at its end, which only say that it is complete. */
export function trimDots(name: string): string {
  let end = name.length;
  while (name[end - 1] === '.') end--;
  return name.slice(0, end);
}

function normalizeIpv6(address: string): string {
  const spelled = new URL(`http://[${address}]/`).hostname.slice(1, -1);
  const [, high, low] = MAPPED_IPV4.exec(spelled) ?? [];
  if (high === undefined || low === undefined) return spelled;
  const bits = (Number.parseInt(high, 16) << 16) | Number.parseInt(low, 16);
  return [24, 16, 8, 0].map((shift) => (bits >>> shift) & 0xff).join('.');
}

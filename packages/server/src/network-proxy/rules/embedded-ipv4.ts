import { isIPv6 } from 'node:net';

const GROUPS = 8;

/** The eight groups of an IPv6 address, without its zone. */
export function ipv6Groups(address: string): number[] {
  // The URL parser writes out what is an IPv4 address in there; zones are no part of an address.
  const spelled = new URL(`http://[${address.split('%')[0]}]/`).hostname.slice(1, -1);
  const [head = '', tail] = spelled.split('::');
  const read = (text: string) =>
    text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
  const before = read(head);
  const after = read(tail ?? '');
  return [...before, ...Array.from({ length: GROUPS - before.length - after.length }, () => 0), ...after];
}

/** How IPv4 addresses are put into IPv6 ones: what such an address looks like, and where in its 16 bytes they are. */
const EMBEDDINGS: readonly {
  readonly holds: (groups: readonly number[]) => boolean;
  /** The first byte of each, or all four where they are not in a row. */
  readonly at: readonly (number | readonly [number, number, number, number])[];
  /** Written with all bits turned round. */
  readonly inverted?: readonly number[];
}[] = [
  // Compatible (::a.b.c.d), mapped (::ffff:a.b.c.d) and translated (::ffff:0:a.b.c.d).
  { holds: (groups) => startsWith(groups, [0, 0, 0, 0, 0, 0]), at: [12] },
  { holds: (groups) => startsWith(groups, [0, 0, 0, 0, 0, 0xffff]), at: [12] },
  { holds: (groups) => startsWith(groups, [0, 0, 0, 0, 0xffff, 0]), at: [12] },
  // Translation with the well-known prefix, and with the local one, where the operator decides how long the prefix is.
  { holds: (groups) => startsWith(groups, [0x64, 0xff9b, 0, 0, 0, 0]), at: [12] },
  {
    holds: (groups) => startsWith(groups, [0x64, 0xff9b, 1]),
    at: [[6, 7, 9, 10], [7, 9, 10, 11], 9, 12],
  },
  // 6to4, and Teredo with its server and its client.
  { holds: (groups) => startsWith(groups, [0x2002]), at: [2] },
  { holds: (groups) => startsWith(groups, [0x2001, 0]), at: [4], inverted: [12] },
  // ISATAP, below any prefix; two bits of its mark are free.
  { holds: (groups) => ((groups[4] ?? 0) & ~0x300) === 0 && groups[5] === 0x5efe, at: [12] },
];

/** Every IPv4 address that an IPv6 one leads to, as far as can be seen from it; none of another host or address. */
export function embeddedIpv4(host: string): string[] {
  if (!isIPv6(host)) return [];
  const groups = ipv6Groups(host);
  const bytes = groups.flatMap((group) => [group >> 8, group & 0xff]);
  return EMBEDDINGS.filter(({ holds }) => holds(groups)).flatMap(({ at, inverted = [] }) => [
    ...at.map((place) => spell(bytes, typeof place === 'number' ? inRow(place) : place)),
    ...inverted.map((first) =>
      spell(
        bytes.map((byte) => byte ^ 0xff),
        inRow(first),
      ),
    ),
  ]);
}

function startsWith(groups: readonly number[], prefix: readonly number[]): boolean {
  return prefix.every((group, index) => groups[index] === group);
}

function inRow(first: number): readonly number[] {
  return [first, first + 1, first + 2, first + 3];
}

function spell(bytes: readonly number[], places: readonly number[]): string {
  return places.map((place) => bytes[place] ?? 0).join('.');
}

/*
 * What Landlock can take away, by the version of its interface that first has it. Numbers of the kernel's
 * `linux/landlock.h`.
 */

/** The oldest version that can take away the network. */
export const OLDEST_ABI = 4;

interface Right {
  readonly bit: number;
  readonly since: number;
}

/** Changes of files: write, remove, make, move, cut, and control devices. */
const CHANGES: readonly Right[] = [
  { bit: 1, since: 1 },
  ...[4, 5, 6, 7, 8, 9, 10, 11, 12].map((bit) => ({ bit, since: 1 })),
  { bit: 13, since: 2 },
  { bit: 14, since: 3 },
  { bit: 15, since: 5 },
];

/** TCP: bind and connect. */
const NETWORK: readonly Right[] = [
  { bit: 0, since: 4 },
  { bit: 1, since: 4 },
];

/** Whom it reaches outside of its own restriction: by abstract names of sockets, and by signals. */
const SCOPES: readonly Right[] = [
  { bit: 0, since: 6 },
  { bit: 1, since: 6 },
];

const WRITE_FILE = 1 << 1;
const CONTROL_DEVICE = 1 << 15;

/** What a ruleset takes away as far as a kernel knows it: for files, for the network, and of others. */
export function chooseRights(abi: number): { files: number; network: number; scopes: number } {
  const combine = (rights: readonly Right[]) =>
    rights.reduce((flags, { bit, since }) => (since <= abi ? flags | (1 << bit) : flags), 0);
  return { files: combine(CHANGES), network: combine(NETWORK), scopes: combine(SCOPES) };
}

/** What stays allowed at devices that keep nothing of what is written to them. */
export function deviceRights(abi: number): number {
  return (WRITE_FILE | CONTROL_DEVICE) & chooseRights(abi).files;
}

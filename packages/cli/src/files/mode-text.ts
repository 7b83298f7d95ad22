import type { FileType } from '@exec-server/client';

const TYPE_LETTERS: Readonly<Record<FileType, string>> = {
  file: '-',
  directory: 'd',
  symlink: 'l',
  other: '?',
};

/** What replaces `x` where a bit beside the permissions is set: for the owner, the group and all others. */
const SPECIAL_BITS = [
  { bit: 0o4000, with: 's', without: 'S' },
  { bit: 0o2000, with: 's', without: 'S' },
  { bit: 0o1000, with: 't', without: 'T' },
] as const;

const BITS_PER_CLASS = 3;

/** Type and permissions as `ls -l` writes them: `drwxr-xr-x`. */
export function toModeText(type: FileType, mode: number | undefined): string {
  if (mode === undefined) return `${TYPE_LETTERS[type]}?????????`;
  const classes = SPECIAL_BITS.map((special, index) => {
    const bits = mode >> (BITS_PER_CLASS * (SPECIAL_BITS.length - 1 - index));
    const executable = (bits & 1) !== 0;
    const plain = executable ? 'x' : '-';
    const last = (mode & special.bit) === 0 ? plain : executable ? special.with : special.without;
    return `${(bits & 4) === 0 ? '-' : 'r'}${(bits & 2) === 0 ? '-' : 'w'}${last}`;
  });
  return `${TYPE_LETTERS[type]}${classes.join('')}`;
}

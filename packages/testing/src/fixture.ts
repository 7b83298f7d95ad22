import { fileURLToPath } from 'node:url';

/** Programs that misbehave on purpose; each says at its top what it does. */
export type FixtureName =
  | 'daemon'
  | 'flood'
  | 'fork-and-exit'
  | 'fork-storm'
  | 'hold-pipe'
  | 'ignore-sigterm'
  | 'ignore-sigterm-family'
  | 'never-read-stdin'
  | 'print-20k'
  | 'setsid-grandchild'
  | 'split-utf8';

/** The path of an executable fixture program. */
export function fixture(name: FixtureName): string {
  return fileURLToPath(new URL(`../fixtures/${name}.sh`, import.meta.url));
}

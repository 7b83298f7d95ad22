import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { NoteAct, NoteActs } from './note.js';

/** Pause between the writes of the recorded burst, in milliseconds. */
const BURST_PAUSE_MS = 40;

/** What the recording's client did to the files that were watched. */
export const FILE_ACTS: NoteActs = [
  [/^write f( after re-watching)?$/, doing((cwd) => write(cwd, 'f'))],
  [/^(write the new f in place)$/, doing((cwd) => write(cwd, 'f'))],
  [/^(rename over f|replace f by rename)$/, doing(replaceFile)],
  [
    /^create two files in dir and one in dir\/sub$/,
    doing((cwd) => {
      for (const name of ['dir/a', 'dir/b', 'dir/sub/c']) write(cwd, name);
    }),
  ],
  [/^delete dir\/a$/, doing((cwd) => rmSync(join(cwd, 'dir/a')))],
  [/^create the missing path$/, doing((cwd) => write(cwd, 'missing'))],
  [/^write in dir after unwatch$/, doing((cwd) => write(cwd, 'dir/late'))],
  [
    /^(\d+) rapid writes$/,
    async ({ cwd }, [, count]) => {
      for (let at = 0; at < Number(count); at++) write(cwd, 'f');
      return undefined;
    },
  ],
  [
    /^(\d+) writes to f, one every 40 ms$/,
    async ({ cwd }, [, count]) => {
      for (let at = 0; at < Number(count); at++) {
        write(cwd, 'f');
        await delay(BURST_PAUSE_MS);
      }
      return undefined;
    },
  ],
  [/^remove the watched directory$/, doing((cwd) => rmSync(join(cwd, 'dir'), { recursive: true }))],
  [
    /^recreate it and add a file$/,
    doing((cwd) => {
      mkdirSync(join(cwd, 'dir'));
      write(cwd, 'dir/again');
    }),
  ],
];

function doing(change: (cwd: string) => void): NoteAct {
  return async ({ cwd }) => {
    change(cwd);
    return undefined;
  };
}

/** Opened in place, as an editor that does not care would do it. */
function write(cwd: string, name: string): void {
  writeFileSync(join(cwd, name), `${performance.now()}\n`);
}

function replaceFile(cwd: string): void {
  write(cwd, 'f.new');
  renameSync(join(cwd, 'f.new'), join(cwd, 'f'));
}

// What a run makes and must not leave behind, however it ends: processes and directories of its own.
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';

const children = new Set();
const directories = new Set();

/** Homes of servers carry the pid of the run, so that the next one knows which belong to nobody. */
const HOME_NAME = /^bench-(\d+)-/;
const CACHE = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'exec-server');

process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL');
  for (const path of directories) rmSync(path, { recursive: true, force: true });
});
for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
])
  process.once(signal, () => process.exit(code));

/** Ends `child` with the run, if it still runs by then. */
export function ownChild(child) {
  children.add(child);
  child.once('exit', () => children.delete(child));
  return child;
}

/** A directory among the temporary files that goes with the run at the latest. */
export function makeDirectory(name) {
  return ownDirectory(mkdtempSync(join(tmpdir(), `exec-server-bench-${name}-`)));
}

/** A home for one server. The reference makes no sandboxes from one among the temporary files. */
export function makeHome() {
  mkdirSync(CACHE, { recursive: true });
  return ownDirectory(mkdtempSync(join(CACHE, `bench-${process.pid}-`)));
}

export function removeDirectory(path) {
  rmSync(path, { recursive: true, force: true });
  directories.delete(path);
}

/** Removes the homes of runs that were killed. */
export function removeOrphanedHomes() {
  mkdirSync(CACHE, { recursive: true });
  for (const name of readdirSync(CACHE)) {
    const pid = HOME_NAME.exec(name)?.[1];
    if (pid !== undefined && !isAlive(Number(pid)))
      rmSync(join(CACHE, name), { recursive: true, force: true });
  }
}

function ownDirectory(path) {
  directories.add(path);
  return path;
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

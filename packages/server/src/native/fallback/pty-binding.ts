import { createRequire } from 'node:module';
import { arch, platform } from 'node:process';

/** The addon of `@lydell/node-pty` 1.1.0. Not a public interface of that package: its version is pinned. */
export interface PtyBinding {
  fork(
    file: string,
    args: readonly string[],
    env: readonly string[],
    cwd: string,
    cols: number,
    rows: number,
    uid: number,
    gid: number,
    utf8: boolean,
    helperPath: string,
    onExit: (code: number, signal: number) => void,
  ): { readonly fd: number; readonly pid: number; readonly pty: string };
  resize(fd: number, cols: number, rows: number): void;
}

/** "As the server", for user and group. */
export const SAME_ID = -1;

let loaded: { readonly binding: PtyBinding; readonly helperPath: string } | undefined;

/** Throws where no binary exists for the platform. */
export function loadPtyBinding(): { readonly binding: PtyBinding; readonly helperPath: string } {
  if (loaded === undefined) {
    const requireHere = createRequire(import.meta.url);
    // The binary is a dependency of that package, not of ours.
    const requireThere = createRequire(requireHere.resolve('@lydell/node-pty'));
    const packageName = `@lydell/node-pty-${platform}-${arch}`;
    loaded = {
      binding: requireThere(`${packageName}/pty.node`) as PtyBinding,
      helperPath: platform === 'darwin' ? requireThere.resolve(`${packageName}/spawn-helper`) : '',
    };
  }
  return loaded;
}

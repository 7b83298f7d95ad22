import { constants } from 'node:fs';
import { constants as osConstants } from 'node:os';
import { OsError } from '../os-error.js';
import { toCString } from './c-strings.js';
import { EINVAL } from './constants.js';
import { type DescriptorScope, O_CLOEXEC, setNonBlocking } from './descriptors.js';
import { checkErrno, checkResult, type Libc } from './libc.js';

const { errno } = osConstants;

const TCGETS = 0x5401;
const TIOCSWINSZ = 0x5414;
/** Bytes of the kernel's `struct termios`, and where in it the end-of-file character lies. */
const TERMIOS_BYTES = 60;
const TERMIOS_EOF_OFFSET = 21;
/** Control-D, what a terminal begins with. */
export const DEFAULT_EOF_CHARACTER = 4;
const MAX_NAME_BYTES = 128;
/** A terminal counts rows and columns in 16 bits. */
const MAX_TERMINAL_SIZE = 65_535;

export interface TerminalSize {
  readonly rows: number;
  readonly cols: number;
}

export interface PtyPair {
  /** Non-blocking and close-on-exec. */
  readonly master: number;
  /**
   * Held open by us until the child is reaped: without it the terminal would end whenever the child, for a moment, has
   * no descriptor of it open. Never our controlling terminal; close-on-exec.
   */
  readonly slave: number;
  /** Path by which the child opens its terminal. */
  readonly slavePath: string;
}

/** What the lack of a terminal means, by the number that the system gives for it. */
const MISSING: ReadonlyMap<number, string> = new Map([
  [errno.ENOENT, '/dev/ptmx or /dev/pts is missing'],
  [errno.ENODEV, 'no devpts is mounted at /dev/pts'],
  [errno.ENXIO, 'no devpts is mounted at /dev/pts'],
  [errno.ENOTTY, '/dev/ptmx is no terminal multiplexer'],
  [errno.EINVAL, '/dev/ptmx is no terminal multiplexer'],
  [errno.EACCES, 'this user may not open /dev/ptmx or what is in /dev/pts'],
]);

/** Opens a terminal of the given size. The descriptors belong to `scope`. Says what is missing where there are none. */
export function openPty(libc: Libc, size: TerminalSize, scope: DescriptorScope): PtyPair {
  checkTerminalSize(size);
  try {
    return openPair(libc, size, scope);
  } catch (error) {
    const missing = error instanceof OsError ? MISSING.get(error.errno) : undefined;
    if (!(error instanceof OsError) || missing === undefined) throw error;
    throw new OsError(error.errno, error.syscall, {
      before: `this machine has no terminals, ${missing}: `,
      after:
        '. Mount it with `mount -t devpts -o ptmxmode=0666 devpts /dev/pts` and link /dev/ptmx to pts/ptmx, or start without a terminal',
    });
  }
}

function openPair(libc: Libc, size: TerminalSize, scope: DescriptorScope): PtyPair {
  const flags = constants.O_RDWR | constants.O_NOCTTY | O_CLOEXEC;
  const master = scope.own(checkResult(libc, libc.posix_openpt(flags), 'posix_openpt'));
  checkResult(libc, libc.grantpt(master), 'grantpt');
  checkResult(libc, libc.unlockpt(master), 'unlockpt');
  const slavePath = readSlavePath(libc, master);
  setTerminalSize(libc, master, size);
  setNonBlocking(libc, master);
  const slave = scope.own(checkResult(libc, libc.open(toCString(slavePath, 'open'), flags), 'open'));
  return { master, slave, slavePath };
}

export function setTerminalSize(libc: Libc, master: number, size: TerminalSize): void {
  checkTerminalSize(size);
  // struct winsize: rows, columns, and two pixel sizes that nobody knows.
  const winsize = Buffer.from(Uint16Array.of(size.rows, size.cols, 0, 0).buffer);
  checkResult(libc, libc.ioctl(master, TIOCSWINSZ, winsize), 'ioctl');
}

/** The character by which the terminal's user ends the input; the usual one where the program has switched it off. */
export function readEofCharacter(libc: Libc, master: number): number {
  const termios = Buffer.alloc(TERMIOS_BYTES);
  checkResult(libc, libc.ioctl(master, TCGETS, termios), 'ioctl');
  return termios[TERMIOS_EOF_OFFSET] || DEFAULT_EOF_CHARACTER;
}

/** Throws EINVAL for a size that would wrap around in the kernel's 16 bits. */
export function checkTerminalSize({ rows, cols }: TerminalSize): void {
  for (const value of [rows, cols]) {
    if (!Number.isInteger(value) || value < 0 || value > MAX_TERMINAL_SIZE)
      throw new OsError(EINVAL, 'ioctl');
  }
}

function readSlavePath(libc: Libc, master: number): string {
  const name = Buffer.alloc(MAX_NAME_BYTES);
  checkErrno(libc.ptsname_r(master, name, name.length), 'ptsname_r');
  return name.toString('utf8', 0, name.indexOf(0));
}

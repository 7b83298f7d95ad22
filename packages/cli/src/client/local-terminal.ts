import type { ProcessHandle, TerminalSize } from '@exec-server/client';
import type { CommandIo } from '../command-io.js';

type TerminalIo = Pick<CommandIo, 'stdin' | 'stdout' | 'onContinued'>;

/**
 * Undoes what a program that could not say goodbye may have left on: the other screen, a hidden cursor, mouse reports,
 * bracketed paste, colours.
 */
const RESET_MODES =
  '\u001b[?1047l\u001b[?25h\u001b[?1000l\u001b[?1002l\u001b[?1003l\u001b[?1006l\u001b[?2004l\u001b[0m';

/** A terminal that was lent to a process. */
export interface LentTerminal {
  /** Gives the terminal back as it was. `cleanly` is false for a process that could not tidy up itself. */
  giveBack(cleanly: boolean): void;
}

/** The size of the terminal that is written to, where there is one. */
export function terminalSize({ stdout }: Pick<CommandIo, 'stdout'>): TerminalSize | undefined {
  const { columns: cols, rows } = stdout;
  return cols === undefined || rows === undefined || cols < 1 || rows < 1 ? undefined : { cols, rows };
}

/**
 * Lends the terminal at hand to a process: keys arrive as they are typed, and the process learns of every new size, also
 * of one since `knownSize`.
 */
export function lendTerminal(
  io: TerminalIo,
  handle: Pick<ProcessHandle, 'resize'>,
  knownSize: TerminalSize | undefined,
): LentTerminal {
  const setRawMode = (raw: boolean) => {
    if (io.stdin.isTTY === true) io.stdin.setRawMode?.(raw);
  };
  const tellSize = () => {
    const size = terminalSize(io);
    // It may have ended just now; its end is told elsewhere.
    if (size !== undefined) handle.resize(size).catch(() => {});
  };
  const takeAgain = () => {
    // The shell that stopped us has set the terminal up for itself, which nobody told Node: only a change is carried out.
    setRawMode(false);
    setRawMode(true);
    tellSize();
  };
  setRawMode(true);
  io.stdout.on('resize', tellSize);
  const stopContinued = io.onContinued(takeAgain);
  const size = terminalSize(io);
  if (size?.cols !== knownSize?.cols || size?.rows !== knownSize?.rows) tellSize();
  return {
    giveBack(cleanly) {
      stopContinued();
      io.stdout.off('resize', tellSize);
      if (!cleanly && io.stdout.isTTY === true) io.stdout.write(RESET_MODES);
      setRawMode(false);
    },
  };
}

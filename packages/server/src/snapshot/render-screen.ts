import type { Terminal as HeadlessTerminal } from '@xterm/headless';

/** Bytes that the terminal is given at once; it lets the loop turn between such pieces, when they have taken long. */
const PIECE_BYTES = 4096;

/** Output, the size of its terminal, and whether the output is all that there was. */
export interface ScreenJob {
  readonly output: readonly Uint8Array[];
  readonly rows: number;
  readonly cols: number;
  readonly exact: boolean;
}

/** What a terminal shows. */
export interface Screen {
  readonly rows: number;
  readonly cols: number;
  /** From 0. */
  readonly cursorRow: number;
  /** From 0. */
  readonly cursorCol: number;
  /** Every row without trailing spaces. */
  readonly lines: readonly string[];
  /** Paints the screen on an empty terminal of the same size. */
  readonly ansi: string;
  /** Whether nothing of the output was missing. */
  readonly exact: boolean;
}

/**
 * Plays output on a terminal that nobody sees and tells what it shows. Its answers to queries in the output go nowhere.
 * A large screen takes long in one piece: it belongs where nothing else waits.
 */
export async function renderScreen({ output, rows, cols, exact }: ScreenJob): Promise<Screen> {
  // Loaded at the first use: most servers are never asked for a screen.
  const [{ Terminal }, { SerializeAddon }] = await Promise.all([
    import('@xterm/headless').then(({ default: module }) => module),
    import('@xterm/addon-serialize').then(({ default: module }) => module),
  ]);
  const terminal = new Terminal({ rows, cols, scrollback: 0, allowProposedApi: true });
  try {
    const serializer = new SerializeAddon();
    // The addon is typed for the terminal of the browser, of which it uses what both have.
    terminal.loadAddon(serializer as unknown as Parameters<HeadlessTerminal['loadAddon']>[0]);
    await play(terminal, output);
    const { active } = terminal.buffer;
    const lines = Array.from(
      { length: rows },
      (_, row) => active.getLine(active.baseY + row)?.translateToString(true) ?? '',
    );
    return {
      rows,
      cols,
      cursorRow: active.cursorY,
      cursorCol: Math.min(active.cursorX, cols - 1),
      lines,
      ansi: serializer.serialize({ scrollback: 0 }),
      exact,
    };
  } finally {
    terminal.dispose();
  }
}

function play(terminal: HeadlessTerminal, output: readonly Uint8Array[]): Promise<void> {
  for (const bytes of output)
    for (let start = 0; start < bytes.length; start += PIECE_BYTES)
      terminal.write(bytes.subarray(start, start + PIECE_BYTES));
  return new Promise((resolve) => terminal.write('', resolve));
}

/** The screen as the JSON that goes to clients. */
export async function encodeScreen(job: ScreenJob): Promise<Uint8Array<ArrayBuffer>> {
  return new TextEncoder().encode(JSON.stringify(await renderScreen(job)));
}

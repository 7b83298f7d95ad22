import type { Terminal as HeadlessTerminal } from '@xterm/headless';

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
}

/**
 * Plays output on a terminal that nobody sees and tells what it shows. The terminal parses in slices and lets the loop
 * turn between them; its answers to queries in the output go nowhere.
 */
export async function renderScreen(
  output: readonly Uint8Array[],
  size: { readonly rows: number; readonly cols: number },
): Promise<Screen> {
  // Loaded at the first use: most servers are never asked for a screen.
  const [{ Terminal }, { SerializeAddon }] = await Promise.all([
    import('@xterm/headless').then(({ default: module }) => module),
    import('@xterm/addon-serialize').then(({ default: module }) => module),
  ]);
  const terminal = new Terminal({ ...size, scrollback: 0, allowProposedApi: true });
  try {
    const serializer = new SerializeAddon();
    // The addon is typed for the terminal of the browser, of which it uses what both have.
    terminal.loadAddon(serializer as unknown as Parameters<HeadlessTerminal['loadAddon']>[0]);
    for (const bytes of output) await new Promise<void>((resolve) => terminal.write(bytes, resolve));
    const { active } = terminal.buffer;
    const lines = Array.from(
      { length: size.rows },
      (_, row) => active.getLine(active.baseY + row)?.translateToString(true) ?? '',
    );
    return {
      ...size,
      cursorRow: active.cursorY,
      cursorCol: Math.min(active.cursorX, size.cols - 1),
      lines,
      ansi: serializer.serialize({ scrollback: 0 }),
    };
  } finally {
    terminal.dispose();
  }
}

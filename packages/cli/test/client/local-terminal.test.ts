import type { TerminalSize } from '@exec-server/client';
import { describe, expect, it } from 'vitest';
import { lendTerminal, terminalSize } from '../../src/client/local-terminal.js';
import { FakeIo } from '../support.js';

function createTerminal() {
  const io = new FakeIo();
  io.stdin.isTTY = true;
  io.stdout.isTTY = true;
  const sizes: TerminalSize[] = [];
  const handle = {
    resize: async (size: TerminalSize) => {
      sizes.push(size);
    },
  };
  return { io, sizes, handle };
}

const SIZE = { cols: 80, rows: 24 };

describe('a terminal that is lent', () => {
  it('is raw until it is given back, and nothing listens on', () => {
    const { io, handle } = createTerminal();
    const terminal = lendTerminal(io, handle, SIZE);
    expect(io.rawModes).toEqual([true]);
    terminal.giveBack(true);
    expect(io.rawModes).toEqual([true, false]);
    expect({ listeners: io.listeners, resize: io.stdout.listenerCount('resize') }).toEqual({
      listeners: 0,
      resize: 0,
    });
    expect(io.stdout.text).toBe('');
  });

  it('tells each new size, also one since the process was started', () => {
    const { io, sizes, handle } = createTerminal();
    io.stdout.columns = 81;
    lendTerminal(io, handle, SIZE);
    io.stdout.rows = 25;
    io.stdout.emit('resize');
    expect(sizes).toEqual([
      { cols: 81, rows: 24 },
      { cols: 81, rows: 25 },
    ]);
  });

  it('is set up again after the process was stopped', () => {
    const { io, sizes, handle } = createTerminal();
    lendTerminal(io, handle, SIZE);
    io.continue();
    expect(io.rawModes).toEqual([true, false, true]);
    expect(sizes).toEqual([SIZE]);
  });

  it('is tidied up for a process that could not do it', () => {
    const { io, handle } = createTerminal();
    lendTerminal(io, handle, SIZE).giveBack(false);
    expect(io.stdout.text).toContain('\u001b[?1047l');
    expect(io.stdout.text).toContain('\u001b[?25h');
  });
});

it('what is no terminal is left alone and has no size', () => {
  const { io, handle } = createTerminal();
  io.stdin.isTTY = false;
  io.stdout.isTTY = false;
  lendTerminal(io, handle, SIZE).giveBack(false);
  expect({ rawModes: io.rawModes, text: io.stdout.text }).toEqual({ rawModes: [], text: '' });
  Object.assign(io.stdout, { columns: 0, rows: 0 });
  expect(terminalSize(io)).toBeUndefined();
  Object.assign(io.stdout, { columns: undefined, rows: undefined });
  expect(terminalSize(io)).toBeUndefined();
});

import { describe, expect, it } from 'vitest';
import { renderScreen } from '../../src/snapshot/render-screen.js';

const render = (...pieces: string[]) =>
  renderScreen({ output: pieces.map((piece) => Buffer.from(piece)), rows: 3, cols: 10, exact: true });

describe('a screen', () => {
  it('is what the terminal shows after everything', async () => {
    const screen = await render('one\r\ntwo\r\n', 'three\r\nfo', 'ur');
    expect(screen).toMatchObject({ lines: ['two', 'three', 'four'], cursorRow: 2, cursorCol: 4 });
  });

  it('survives a character that is cut in two', async () => {
    const euro = Buffer.from('€');
    const output = [euro.subarray(0, 1), euro.subarray(1)];
    const { lines } = await renderScreen({ output, rows: 1, cols: 4, exact: true });
    expect(lines).toEqual(['€']);
  });

  it('paints the same screen again', async () => {
    const first = await render('plain\r\n\x1b[1;31mred\x1b[0m\x1b[3;5Hhere');
    expect(await render(first.ansi)).toEqual(first);
  });

  it('asks the terminal that it is painted on nothing', async () => {
    const { ansi } = await render('\x1b[6n\x1b[c\x1b]11;?\x07text');
    expect(ansi).toBe('text');
  });

  it('is the same however long the output is', async () => {
    const text = `${'x'.repeat(9)}\r\n`;
    const { lines } = await render(text.repeat(2_000), 'end');
    expect(lines).toEqual(['xxxxxxxxx', 'xxxxxxxxx', 'end']);
  });

  it('tells the alternate screen while it is shown', async () => {
    const { lines } = await render('shell\r\n\x1b[?1049h\x1b[Heditor');
    expect(lines[0]).toBe('editor');
  });
});

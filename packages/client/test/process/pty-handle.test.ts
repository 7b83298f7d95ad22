import { describe, expect, it } from 'vitest';
import { PtyHandle } from '../../src/process/pty-handle.js';
import { openMachine, sh } from '../support/machine.js';

describe('a terminal', () => {
  it('has the size it was given, and a new one after a resize', async () => {
    const machine = await openMachine();
    await using term = await machine.pty(sh('stty size; read -r _; stty size'), { cols: 120, rows: 40 });
    await term.waitFor({ line: '40 120' });
    await term.resize({ cols: 200, rows: 50 });
    await term.write('\n');
    await term.waitFor({ line: '50 200' });
  });

  it('is read and written as streams, and ends at the end-of-file character', async () => {
    const machine = await openMachine();
    const term = await machine.pty(sh('stty -echo; echo ready; cat; echo over'));
    await term.waitFor({ line: 'ready' });
    const writer = term.writable.getWriter();
    await writer.write('hello\n');
    await term.waitFor({ line: 'hello' });
    await term.end();
    expect(await new Response(term.readable).text()).toBe('ready\r\nhello\r\nover\r\n');
    expect((await term.result()).stdout.lines()).toEqual(['ready', 'hello', 'over']);
  });

  it('gets its end of file as a character from a server that cannot close stdin', async () => {
    const machine = await openMachine({ disabledCapabilities: ['processCloseStdin'] });
    const term = await machine.pty(sh('echo ready; cat'));
    await term.waitFor({ line: 'ready' });
    await term.end();
    expect(await term.wait()).toEqual({ kind: 'exited', exitCode: 0 });
  });

  it('shows its screen', async () => {
    const machine = await openMachine();
    const script = `printf 'gone\\033[2J\\033[2;3Hhere'; exec sleep 300`;
    await using term = await machine.pty(sh(script), { cols: 20, rows: 5 });
    await term.waitFor({ text: 'here' });
    const screen = await term.snapshot();
    expect(screen).toMatchObject({
      rows: 5,
      cols: 20,
      cursorRow: 1,
      cursorCol: 6,
      exact: true,
      outcome: undefined,
    });
    expect(screen.lines[1]).toBe('  here');
    expect(screen.ansi).toContain('here');
    expect(screen.stdout.text()).toContain('gone');
  });

  it('cannot be given a size where the server does not know sizes', async () => {
    const machine = await openMachine({ disabledCapabilities: ['processSize'] });
    await expect(machine.pty(['true'], { cols: 100 })).rejects.toMatchObject({ code: 'capability_missing' });
    const term = await machine.pty(['stty', 'size']);
    expect((await term.result()).stdout.trimmed()).toBe('24 80');
    await expect(term.resize({ cols: 1, rows: 1 })).rejects.toMatchObject({ code: 'capability_missing' });
  });

  it('is a terminal again when it is attached to', async () => {
    const machine = await openMachine();
    const first = await machine.pty(sh('read -r line; echo "got $line"'), { id: 'term' });
    first.detach();
    const again = await machine.attach('term');
    expect(again).toBeInstanceOf(PtyHandle);
    await again.stdin.write('it\n');
    await again.waitFor({ line: 'got it' });
    expect(await again.wait()).toMatchObject({ exitCode: 0 });
  });
});

import { describe, expect, it } from 'vitest';
import {
  openServer,
  openSession,
  shellParams,
  startParams,
  untilClosed,
  untilPrinted,
} from '../../support/session.js';

const resize = (processId: string, rows: number, cols: number) => ({ processId, rows, cols });

describe('the size of a terminal', () => {
  it('is part of the start', async () => {
    const wire = await openSession(openServer());
    const size = { rows: 40, cols: 120 };
    await wire.request('process/start', shellParams('p', 'stty size', { tty: true, size }));
    expect((await untilClosed(wire, 'p')).pty.toString()).toBe('40 120\r\n');
  });

  it('changes while the program runs, which is told', async () => {
    const wire = await openSession(openServer());
    const script = 'trap "stty size; exit" WINCH; echo ready; while :; do sleep 0.05; done';
    await wire.request('process/start', shellParams('p', script, { tty: true }));
    await untilPrinted(wire, 'p', 'ready');
    expect((await wire.request('process/resize', resize('p', 50, 132))).result).toEqual({});
    expect((await untilClosed(wire, 'p')).pty.toString()).toContain('50 132\r\n');
  });

  it('sent right behind the start is not lost', async () => {
    const wire = await openSession(openServer());
    const params = shellParams('p', 'read x; stty size', { tty: true });
    wire.send({ id: 's', method: 'process/start', params });
    expect((await wire.request('process/resize', resize('p', 33, 99))).result).toEqual({});
    await wire.request('process/write', { processId: 'p', chunk: btoa('\n'), writeId: '1' });
    expect((await untilClosed(wire, 'p')).pty.toString()).toContain('33 99\r\n');
  });

  it.each([
    ['no rows', resize('p', 0, 80), -32602, 'rows and cols must be greater than 0'],
    ['no columns', resize('p', 24, 0), -32602, 'rows and cols must be greater than 0'],
    ['more than 16 bits', resize('p', 65_536, 80), -32602, 'invalid number'],
    ['unknown process', resize('x', 24, 80), -32600, 'unknown process id x'],
    ['no terminal', resize('p', 24, 80), -32600, 'process p has no terminal'],
  ])('is refused: %s', async (_name, params, code, message) => {
    const wire = await openSession(openServer());
    await wire.request('process/start', startParams('p', ['/bin/sleep', '60']));
    expect((await wire.request('process/resize', params)).error).toMatchObject({ code, message });
  });

  it.each([
    [{ tty: false, size: { rows: 1, cols: 1 } }, 'size requires tty'],
    [{ tty: true, size: { rows: 0, cols: 1 } }, 'rows and cols must be greater than 0'],
  ])('is refused at the start: %o', async (changes, message) => {
    const wire = await openSession(openServer());
    const { error } = await wire.request('process/start', startParams('p', ['/bin/true'], changes));
    expect(error).toMatchObject({ code: -32602, message });
  });
});

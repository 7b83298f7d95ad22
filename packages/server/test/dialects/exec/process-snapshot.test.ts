import { describe, expect, it } from 'vitest';
import {
  openServer,
  openSession,
  shellParams,
  startParams,
  untilClosed,
  untilPrinted,
} from '../../support/session.js';

describe('process/snapshot', () => {
  it('tells both streams and the outcome', async () => {
    const wire = await openSession(openServer());
    await wire.request('process/start', shellParams('p', 'echo out; echo err >&2; exit 2'));
    await untilClosed(wire, 'p');
    const { result } = await wire.request('process/snapshot', { processId: 'p' });
    expect(result).toEqual({
      running: false,
      exitCode: 2,
      signal: null,
      timedOut: false,
      closed: true,
      nextSeq: 5,
      streams: [
        { stream: 'stdout', head: btoa('out\n'), tail: '', droppedBytes: 0, totalBytes: 4 },
        { stream: 'stderr', head: btoa('err\n'), tail: '', droppedBytes: 0, totalBytes: 4 },
      ],
    });
  });

  it('counts exactly what is no longer there', async () => {
    const wire = await openSession(openServer({ retainedOutputBytes: 100_000 }));
    await wire.request('process/start', startParams('p', ['/usr/bin/head', '-c', '1000000', '/dev/zero']));
    await untilClosed(wire, 'p');
    const { result } = await wire.request('process/snapshot', { processId: 'p' });
    const [stdout] = (result?.streams ?? []) as {
      head: string;
      tail: string;
      droppedBytes: number;
      totalBytes: number;
    }[];
    const present =
      Buffer.from(stdout?.head ?? '', 'base64').length + Buffer.from(stdout?.tail ?? '', 'base64').length;
    expect(stdout?.totalBytes).toBe(1_000_000);
    expect(stdout?.droppedBytes).toBe(1_000_000 - present);
  });

  it('shows the screen of a terminal at its present size', async () => {
    const wire = await openSession(openServer());
    const script = 'printf "\\033[2J\\033[2;3Hmiddle"; read x';
    await wire.request('process/start', shellParams('p', script, { tty: true, size: { rows: 4, cols: 20 } }));
    await untilPrinted(wire, 'p', 'middle');
    const { result } = await wire.request('process/snapshot', { processId: 'p' });
    expect(result).toMatchObject({
      running: true,
      screen: { rows: 4, cols: 20, lines: ['', '  middle', '', ''], cursorRow: 1, cursorCol: 8, exact: true },
    });
    await wire.request('process/resize', { processId: 'p', rows: 2, cols: 30 });
    expect((await wire.request('process/snapshot', { processId: 'p' })).result).toMatchObject({
      screen: { rows: 2, cols: 30 },
    });
    const bare = await wire.request('process/snapshot', { processId: 'p', screen: false });
    expect(bare.result).not.toHaveProperty('screen');
  });

  it.each([
    [999, true],
    [1_000, true],
    [1_001, false],
  ])('of a terminal with 1,000 columns and %i rows has a screen: %s', async (rows, rendered) => {
    const wire = await openSession(openServer());
    const size = { rows, cols: 1_000 };
    await wire.request('process/start', shellParams('p', 'echo x; read y', { tty: true, size }));
    await untilPrinted(wire, 'p', 'x');
    const { result } = await wire.request('process/snapshot', { processId: 'p' });
    expect(result !== undefined && 'screen' in result).toBe(rendered);
  });

  it('of an unknown process is an error', async () => {
    const wire = await openSession(openServer());
    expect((await wire.request('process/snapshot', { processId: 'x' })).error?.code).toBe(-32600);
  });
});

import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { openServer, openSession, shellParams, startParams, untilClosed } from '../../support/session.js';

let spillDirectory: string;
beforeEach(() => {
  spillDirectory = mkdtempSync(join(tmpdir(), 'process-spill-'));
  onTestFinished(() => rmSync(spillDirectory, { recursive: true }));
});

interface Spill {
  readonly path: string;
  readonly bytes: number;
  readonly truncated: boolean;
  readonly complete: boolean;
}

const spill = true;
const spillOf = (result: Record<string, unknown> | undefined) => result?.spill as Spill;
const open = (limits: object = {}) => openSession(openServer({ spillDirectory, ...limits }));

describe('spill', () => {
  it('keeps the whole output, more than is retained, in the order in which it came', async () => {
    const wire = await open({ retainedOutputBytes: 1000 });
    const script = 'for i in 1 2 3; do echo out $i; echo err $i >&2; done; head -c 3000000 /dev/zero';
    await wire.request('process/start', shellParams('p', script, { spill }));
    await untilClosed(wire, 'p');
    const { result } = await wire.request('process/wait', { processId: 'p' });
    const { path, ...figures } = spillOf(result);
    expect(figures).toEqual({ bytes: 3_000_036, truncated: false, complete: true });
    const told = wire.received
      .filter(({ method }) => method === 'process/output')
      .map(({ params }) => Buffer.from(params?.chunk as string, 'base64'));
    expect(readFileSync(fileURLToPath(path)).equals(Buffer.concat(told))).toBe(true);
    expect(path).toContain(`file://${spillDirectory}/`);
  });

  it('keeps what a terminal showed, byte for byte', async () => {
    const wire = await open();
    await wire.request('process/start', shellParams('p', 'echo one; echo two >&2', { tty: true, spill }));
    await untilClosed(wire, 'p');
    const { path } = spillOf((await wire.request('process/wait', { processId: 'p' })).result);
    expect(readFileSync(fileURLToPath(path), 'utf8')).toBe('one\r\ntwo\r\n');
  });

  it('is told while the process runs, and by snapshots and lists', async () => {
    const wire = await open();
    await wire.request('process/start', startParams('p', ['/bin/sleep', '60'], { spill }));
    const known = { bytes: 0, truncated: false, complete: false };
    const { result } = await wire.request('process/wait', { processId: 'p', timeoutMs: 0 });
    expect(result).toMatchObject({ running: true, spill: known });
    expect((await wire.request('process/snapshot', { processId: 'p' })).result).toMatchObject({
      spill: known,
    });
    expect((await wire.request('process/list', {})).result).toMatchObject({ processes: [{ spill: known }] });
  });

  it('says when the limit cut it; the process goes on', async () => {
    const wire = await open({ spillBytes: 100 });
    await wire.request('process/start', shellParams('p', 'head -c 1000 /dev/zero; exit 4', { spill }));
    const story = await untilClosed(wire, 'p');
    expect([story.exitCode, story.stdout.length]).toEqual([4, 1000]);
    const { result } = await wire.request('process/wait', { processId: 'p' });
    expect(result).toMatchObject({ exitCode: 4, spill: { bytes: 100, truncated: true, complete: true } });
  });

  it('writes on while no client is there', async () => {
    const server = openServer({ spillDirectory });
    const wire = await openSession(server);
    await wire.request('process/start', shellParams('p', 'read x; echo late', { pipeStdin: true, spill }));
    await wire.request('process/write', { processId: 'p', chunk: btoa('go\n'), writeId: '1' });
    await wire.close();
    const again = await openSession(server, wire.sessionId);
    // The last event may have come before or after the resumption.
    await again.request('process/read', { processId: 'p', afterSeq: 2, waitMs: 10_000 });
    const { path } = spillOf((await again.request('process/wait', { processId: 'p' })).result);
    expect(readFileSync(fileURLToPath(path), 'utf8')).toBe('late\n');
  });

  it('is on the disk when a server that ends has ended', async () => {
    const server = openServer({ spillDirectory });
    const wire = await openSession(server);
    await wire.request('process/start', shellParams('p', 'echo first; exec sleep 60', { spill }));
    await wire.next(({ method }) => method === 'process/output', 'the output');
    await server.close();
    const [name = ''] = readdirSync(spillDirectory);
    expect(readFileSync(join(spillDirectory, name), 'utf8')).toBe('first\n');
  });

  it('is not there unless asked for', async () => {
    const wire = await open();
    await wire.request('process/start', shellParams('p', 'true'));
    expect((await wire.request('process/wait', { processId: 'p' })).result).not.toHaveProperty('spill');
    expect(readdirSync(spillDirectory)).toEqual([]);
  });
});

describe('a start that fails', () => {
  it('leaves no file behind', async () => {
    const wire = await open();
    const { error } = await wire.request('process/start', startParams('p', ['/nonexistent'], { spill }));
    expect(error).toMatchObject({ code: -32603, message: 'No such file or directory (os error 2)' });
    expect(readdirSync(spillDirectory)).toEqual([]);
  });

  it('because of its spill directory says why and frees the id', async () => {
    chmodSync(spillDirectory, 0o777);
    const wire = await open();
    const { error } = await wire.request('process/start', startParams('p', ['/bin/true'], { spill }));
    expect(error).toMatchObject({
      code: -32603,
      message: `the spill directory ${spillDirectory} can be written to by other users`,
    });
    expect((await wire.request('process/start', startParams('p', ['/bin/true']))).result).toBeDefined();
  });

  it('may be called off while the file is opened', async () => {
    const wire = await open();
    const started = wire.request('process/start', startParams('p', ['/bin/sleep', '60'], { spill }));
    const terminated = wire.request('process/terminate', { processId: 'p' });
    expect((await terminated).result).toEqual({ running: true, pids: [] });
    expect((await started).error).toMatchObject({ code: -32600, message: 'process p start was cancelled' });
    expect(readdirSync(spillDirectory)).toEqual([]);
  });
});

import { describe, expect, it } from 'vitest';
import { createExecServer } from '../../../src/exec-server.js';
import { openServer, openSession, shellParams, startParams, untilClosed } from '../../support/session.js';

const gated = [
  ['processSize', 'process/resize', { processId: 'p', rows: 1, cols: 1 }],
  ['processCloseStdin', 'process/closeStdin', { processId: 'p' }],
  ['processHold', 'process/hold', { processId: 'p', held: true }],
  ['processRemove', 'process/remove', { processId: 'p' }],
  ['processWait', 'process/wait', { processId: 'p' }],
  ['processSnapshot', 'process/snapshot', { processId: 'p' }],
  ['processTags', 'process/list', {}],
  ['processAttach', 'process/attach', { processId: 'p', sessionId: 's' }],
  ['processAttach', 'process/detach', { processId: 'p' }],
  ['processStartPrepared', 'process/startPrepared', {}],
  ['sessionEnd', 'session/end', {}],
  ['netWaitForPort', 'net/waitForPort', { port: 1, timeoutMs: 0 }],
  ['fsLinks', 'fs/readLink', {}],
  ['fsLinks', 'fs/symlink', {}],
  ['fsRename', 'fs/rename', {}],
  ['fsSetMode', 'fs/setMode', {}],
  ['fsWatch', 'fs/watch', {}],
  ['fsWatchMissing', 'fs/watchMissing', {}],
  ['httpCancel', 'http/cancel', { requestId: 'x' }],
] as const;

describe('a capability that is switched off', () => {
  it.each(gated)('%s: is false, and %s is unknown', async (capability, method, params) => {
    const wire = await openSession(openServer({ disabledCapabilities: [capability] }));
    const info = (await wire.request('environment/info')).result as { capabilities: Record<string, boolean> };
    expect(info.capabilities[capability]).toBe(false);
    expect((await wire.request(method, params)).error).toMatchObject({
      code: -32601,
      message: `exec-server stub does not implement \`${method}\` yet`,
    });
  });

  it('takes its members with it: they mean nothing, not even when they are wrong', async () => {
    const disabledCapabilities = ['processSize', 'processTimeout', 'processTags', 'processSpill'] as const;
    const wire = await openSession(openServer({ disabledCapabilities }));
    const changes = {
      tty: true,
      size: { rows: 5, cols: 5 },
      timeoutMs: 0,
      graceMs: 'soon',
      tags: 7,
      spill: true,
    };
    const { result } = await wire.request('process/start', shellParams('p', 'stty size', changes));
    expect(result).toBeDefined();
    expect(await untilClosed(wire, 'p')).toMatchObject({ exitCode: 0, pty: Buffer.from('24 80\r\n') });
  });

  it('processCloseStdin: a write does not close', async () => {
    const wire = await openSession(openServer({ disabledCapabilities: ['processCloseStdin'] }));
    await wire.request('process/start', startParams('p', ['/bin/cat'], { pipeStdin: true }));
    const write = { processId: 'p', chunk: btoa('x'), writeId: '1', closeStdin: true };
    await wire.request('process/write', write);
    expect((await wire.request('process/write', { ...write, writeId: '2' })).result).toEqual({
      status: 'accepted',
    });
  });

  it('processGracefulTerminate: every end is by force', async () => {
    const wire = await openSession(openServer({ disabledCapabilities: ['processGracefulTerminate'] }));
    await wire.request('process/start', startParams('p', ['/bin/sleep', '60']));
    await wire.request('process/terminate', { processId: 'p', mode: { graceful: { timeoutMs: 1e9 } } });
    expect((await untilClosed(wire, 'p')).exitCode).toBe(137);
  });

  it('processSignals: only the interrupt is known', async () => {
    const wire = await openSession(openServer({ disabledCapabilities: ['processSignals'] }));
    const signal = (name: string) => wire.request('process/signal', { processId: 'p', signal: name });
    expect((await signal('SIGTERM')).error?.code).toBe(-32602);
    expect((await signal('interrupt')).result).toEqual({});
  });

  it('does not touch the others', async () => {
    const wire = await openSession(openServer({ disabledCapabilities: ['processSnapshot'] }));
    await wire.request('process/start', shellParams('p', 'exit 0'));
    expect((await wire.request('process/wait', { processId: 'p' })).result).toMatchObject({ exitCode: 0 });
  });
});

it.each(['httpHeaderEnvVars', 'noSuchThing'])('%s cannot be switched off', (name) => {
  expect(() => createExecServer({ disabledCapabilities: [name as 'fsWatch'] })).toThrow(name);
});

import type { ExecServerOptions } from '@exec-server/server';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ExecServerClient } from '../../src/low-level/exec-server-client.js';
import { Machine } from '../../src/machine.js';
import { connectTo, openServer, sh } from '../support/machine.js';

const PARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

async function openTracing(
  trace: () => { traceparent: string; tracestate?: string } | undefined,
  serverOptions: ExecServerOptions = {},
): Promise<Machine> {
  const [transport] = connectTo(openServer(serverOptions));
  const machine = new Machine(await ExecServerClient.connect(transport, { trace }));
  onTestFinished(() => machine.close());
  return machine;
}

describe('the trace context of a call', () => {
  it('reaches a process that is to be told', async () => {
    const machine = await openTracing(() => ({ traceparent: PARENT, tracestate: 'vendor=1' }));
    const tell = sh('echo "$TRACEPARENT $TRACESTATE"');
    expect((await machine.run(tell, { traceEnv: true })).stdout.trimmed()).toBe(`${PARENT} vendor=1`);
    expect((await machine.run(tell)).stdout.trimmed()).toBe('');
  });

  it('is asked for at each call, and may be none', async () => {
    let current: string | undefined;
    const machine = await openTracing(() => (current === undefined ? undefined : { traceparent: current }));
    const tell = async () =>
      (await machine.run(sh('echo "$TRACEPARENT"'), { traceEnv: true })).stdout.trimmed();
    expect(await tell()).toBe('');
    current = PARENT;
    expect(await tell()).toBe(PARENT);
  });

  it('rejects the call with what the caller throws', async () => {
    let broken = false;
    const machine = await openTracing(() => {
      if (broken) throw new Error('no tracer');
      return undefined;
    });
    broken = true;
    await expect(machine.client.call('environment/info', null)).rejects.toThrow('no tracer');
  });

  it('cannot be told to a process by a server that does not do so', async () => {
    const machine = await openTracing(() => ({ traceparent: PARENT }), {
      disabledCapabilities: ['processTraceEnv'],
    });
    await expect(machine.run(['true'], { traceEnv: true })).rejects.toMatchObject({
      code: 'capability_missing',
      capability: 'processTraceEnv',
    });
  });
});

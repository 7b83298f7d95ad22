import { createMemoryTransportPair, type Transport } from '@exec-server/rpc';
import { createExecServer, type ExecServer, type ExecServerOptions } from '@exec-server/server';
import { onTestFinished } from 'vitest';
import { ExecServerClient } from '../../src/low-level/exec-server-client.js';
import { Machine } from '../../src/machine.js';

/** Tells apart the connections of one test run in messages to people. */
let connections = 0;

/** A server that ends with the test. */
export function openServer(options: ExecServerOptions = {}): ExecServer {
  const server = createExecServer(options);
  onTestFinished(() => server.close());
  return server;
}

/** Both ends of a connection to a server in the same process. */
export function connectTo(server: ExecServer): readonly [client: Transport, accepted: Transport] {
  const pair = createMemoryTransportPair('exec-server', `exec-server client ${++connections}`);
  server.accept(pair[1]);
  return pair;
}

/** A machine that is this one, with a real server behind a connection in memory. Both end with the test. */
export async function openMachine(options: ExecServerOptions = {}): Promise<Machine> {
  return openMachineOn(openServer(options));
}

/** Another machine object on a server that runs already. */
export async function openMachineOn(server: ExecServer): Promise<Machine> {
  return (await openCuttableMachine(server)).machine;
}

/** The same with a way to cut its only connection. */
export async function openCuttableMachine(
  server: ExecServer,
): Promise<{ readonly machine: Machine; readonly cut: () => void }> {
  const [transport, accepted] = connectTo(server);
  const machine = new Machine(await ExecServerClient.connect(transport));
  onTestFinished(() => machine.close());
  return { machine, cut: () => accepted.close() };
}

/** The arguments that have a shell run a script. */
export function sh(script: string, ...args: readonly string[]): readonly string[] {
  return ['/bin/sh', '-c', script, 'sh', ...args];
}

/** Everything that an iteration yields. */
export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const collected: T[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}

/** The first output of any process from now on, as text. */
export async function nextOutput(machine: Machine): Promise<string> {
  for await (const event of machine.events()) {
    if (event.type === 'output') return new TextDecoder().decode(event.data);
  }
  throw new Error('the connection ended before any output');
}

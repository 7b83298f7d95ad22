import { createExecServer, type ExecServer } from '@exec-server/server';
import { waitForProcessGone } from '@exec-server/testing';
import { expect } from 'vitest';
import { FakeClock } from '../../packages/server/test/support/fake-clock.js';
import { ClientModel, DETACHED_MS } from './client-model.js';
import { RETENTION_MS } from './process-model.js';
import type { Schedule, Step } from './schedule.js';

/** A server with a clock of its own, on which schedules are played one after the other. */
export class Stage implements AsyncDisposable {
  readonly #clock = new FakeClock();
  readonly #server: ExecServer = createExecServer({ clock: this.#clock });

  /** Plays a schedule to its end, and rejects when the server did what the model does not allow. */
  async play(schedule: Schedule): Promise<void> {
    const clients = [this.#createClient('a'), this.#createClient('b')] as const;
    await clients[0].connect();
    for (const step of schedule) {
      await this.#take(step, clients);
      for (const client of clients) client.takePushes();
    }
    for (const client of clients) await this.#settle(client);
    await this.#expectNothingLeft();
  }

  #createClient(name: string): ClientModel {
    return new ClientModel(this.#server, this.#clock, name);
  }

  async #take(step: Step, clients: readonly [ClientModel, ClientModel]): Promise<void> {
    if (step.do === 'advance') {
      // What has happened by now happened at this time.
      for (const client of clients) client.takePushes();
      this.#clock.advance(step.ms);
      return;
    }
    const client = clients[step.client % 2] as ClientModel;
    if (step.do === 'connect') return client.connect();
    if (!client.isConnected) return;
    if (step.do === 'disconnect') return client.disconnect();
    if (step.do === 'list') return client.list();
    if (step.do === 'start') return client.start(step);
    if (!('process' in step)) return;
    const process = client.processes[step.process % client.processes.length];
    if (process === undefined) return;
    if (step.do === 'read') return client.read(process, step);
    if (step.do === 'write') return client.write(process, step);
    return client[step.do](process);
  }

  /** Ends everything that a client started, and looks at the whole of each process that can still be read. */
  async #settle(client: ClientModel): Promise<void> {
    if (!client.isConnected) await client.connect();
    await client.list();
    for (const process of client.processes) {
      if (!process.isKnownToHaveEnded) await client.terminate(process);
      await client.awaitEnd(process);
    }
    await client.disconnect();
    await client.settlePolls();
    this.#clock.advance(Math.max(DETACHED_MS, RETENTION_MS));
    await Promise.all(client.pids.map((pid) => waitForProcessGone(pid)));
  }

  async #expectNothingLeft(): Promise<void> {
    const witness = this.#createClient('witness');
    await witness.connect();
    await witness.list();
    await witness.disconnect();
    this.#clock.advance(DETACHED_MS);
    await new Promise(setImmediate);
    expect(this.#clock.pendingTimers, 'timers left').toBe(0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.close();
  }
}

/** Plays one schedule on a server of its own. */
export async function playSchedule(schedule: Schedule): Promise<void> {
  await using stage = new Stage();
  await stage.play(schedule);
}

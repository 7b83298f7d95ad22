import { invalidRequest } from '@exec-server/protocol';
import type { Place } from '../../connection/lanes.js';
import { Openings } from '../../connection/openings.js';
import type { ConnectionResource } from '../dialect.js';
import type { Run } from './run.js';
import { COMMAND_WORDS, type FamilyWords, PROCESS_WORDS } from './words.js';

/**
 * What one client has running, by its own ids. Requests about one id are answered one after another, in the order in which
 * they came; one that comes while the end of its process is awaited waits for that too.
 */
export abstract class Runs implements ConnectionResource {
  readonly #active = new Map<string, Run>();
  readonly #turns = new Openings();
  #unnamed = 0;

  protected constructor(readonly words: FamilyWords) {}

  /** What the engine calls a process: the families have their ids to themselves, and a process need not have one. */
  nameProcess(id: string | undefined): string {
    return `${this.words.start} ${id === undefined ? ++this.#unnamed : JSON.stringify(id)}`;
  }

  /** Starts a process under an id, if it has one. Throws an `RpcError` for one that is in use. */
  async start(id: string | undefined, place: Place, start: () => Promise<Run>): Promise<Run> {
    if (id === undefined) return start();
    return this.#inTurn(id, place, async () => {
      if (this.#active.has(id)) throw invalidRequest(this.words.duplicate(id), 'process_exists');
      const run = await start();
      this.#active.set(id, run);
      void run.over.then(() => this.#active.delete(id));
      return run;
    });
  }

  /** Acts on a process that runs. Nobody else waits for what `act` waits for. Throws an `RpcError` when there is none. */
  async act(id: string, place: Place, act: (run: Run) => Promise<void>): Promise<void> {
    const { acted } = await this.#inTurn(id, place, async () => {
      const run = this.#active.get(id);
      if (run === undefined) throw invalidRequest(this.words.unknown(id), 'process_unknown');
      if (run.exited) {
        await place.park(run.reported());
        throw invalidRequest(this.words.ended(id), 'process_unknown');
      }
      return { acted: act(run) };
    });
    await place.park(acted);
  }

  async #inTurn<T>(id: string, place: Place, job: () => Promise<T>): Promise<T> {
    const before = this.#turns.before(id);
    const done = this.#turns.add(id);
    try {
      if (before !== undefined) await place.park(before);
      return await job();
    } finally {
      done();
    }
  }

  close(): void {
    this.#active.clear();
  }
}

/** The processes of `command/exec`. */
export class CommandRuns extends Runs {
  constructor() {
    super(COMMAND_WORDS);
  }
}

/** The processes of `process/spawn`. */
export class ProcessRuns extends Runs {
  constructor() {
    super(PROCESS_WORDS);
  }
}

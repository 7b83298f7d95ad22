import { messageOf } from '../errors.js';
import { reportedDirectory } from '../results/work-place.js';
import type { JobItem } from '../store/job-rows.js';
import type { JobStatus, Result } from '../store/journal-entry.js';
import type { StoredJob } from '../store/stored-job.js';
import { Attempt, type AttemptContext, type Finished, WORKER_GRACE_MS } from './attempt.js';
import { describeEnd, toEndEntry } from './attempt-end.js';
import type { MachineLink } from './machine-link.js';

/** What happens to an item. */
export type ItemEvent = {
  readonly itemId: string;
  /** Index of its row, from 0. */
  readonly rowIndex: number;
  /** From 1. */
  readonly attempt: number;
} & (
  | { readonly type: 'started' | 'adopted'; readonly machine: string }
  | { readonly type: 'completed'; readonly result: Result | undefined }
  | { readonly type: 'failed' | 'retrying'; readonly error: string }
);

/** A worker that runs. */
export interface RunningItem {
  readonly itemId: string;
  readonly rowIndex: number;
  readonly attempt: number;
  readonly machine: string;
  /** Unix time in milliseconds. */
  readonly startedAt: number;
}

/** What a runner works with. */
export interface JobRunnerOptions {
  readonly job: StoredJob;
  readonly context: AttemptContext;
  readonly links: readonly MachineLink[];
  readonly onEvent: (event: ItemEvent) => void;
  /** Resolves when there is room for more events. */
  readonly whenReady: () => Promise<void> | undefined;
}

interface Place {
  readonly link: MachineLink;
  used: number;
  isLost: boolean;
}

/** Why a job was cancelled by one of its workers; the reference's words. */
const CANCELLED_BY_WORKER = 'cancelled by worker request';

/** Runs the items of a job until none is left to run. */
export class JobRunner {
  readonly #running = new Map<number, { readonly attempt: Attempt; readonly item: RunningItem }>();
  readonly #places: readonly Place[];
  readonly #queue: number[] = [];
  #next = 0;
  #cancelled: string | undefined;
  #endsWorkers = false;
  #failure: { readonly error: unknown } | undefined;
  #active = 0;
  #isFilling = false;
  #finish: () => void = () => {};

  constructor(private readonly options: JobRunnerOptions) {
    this.#places = options.links.map((link) => ({ link, used: 0, isLost: false }));
    for (const place of this.#places) place.link.machine.client.onOver(() => this.#lose(place));
  }

  get runningItems(): readonly RunningItem[] {
    return Array.from(this.#running.values(), ({ item }) => item);
  }

  /** Resolves with what the job has come to. Rejects where the journal cannot be written. */
  async run(): Promise<{ readonly status: JobStatus; readonly error?: string }> {
    const done = new Promise<void>((resolve) => {
      this.#finish = resolve;
    });
    const { state } = this.options.job;
    const stopWatching = this.#watchReports();
    for (const [index, { status, isGone }] of state.items.entries()) {
      if (status === 'running' || !isGone) this.#resume(index);
    }
    void this.#fill();
    await done;
    stopWatching();
    if (this.#failure !== undefined) throw this.#failure.error;
    if (this.#cancelled !== undefined) return { status: 'cancelled', error: this.#cancelled };
    if (state.counts.pending > 0)
      return { status: 'failed', error: 'job runner failed: no machine is left to run the rest on' };
    return { status: 'completed' };
  }

  /** Starts no more workers. Those that run are ended, unless they may go on. */
  async cancel(reason: string, { endWorkers }: { readonly endWorkers: boolean }): Promise<void> {
    this.#cancelled ??= reason;
    this.#endsWorkers ||= endWorkers;
    if (endWorkers)
      // Where a machine is out of reach, its workers are lost, too.
      await Promise.allSettled(Array.from(this.#running.values(), ({ attempt }) => attempt.cancel()));
    this.#settle();
  }

  get #isOver(): boolean {
    return this.#cancelled !== undefined || this.#failure !== undefined;
  }

  /** Has the attempts look for reports as soon as there is one. Returns how to stop. */
  #watchReports(): () => void {
    const stops = this.options.links.map((link) =>
      link.watch(reportedDirectory(link.root), (name) => {
        for (const { attempt } of this.#running.values())
          if (attempt.link === link && (name === undefined || name === attempt.name)) attempt.look();
      }),
    );
    return () => {
      for (const stop of stops) stop();
    };
  }

  /** Goes on with a worker that an earlier runner started; the machine has a place for it already. */
  #resume(index: number): void {
    const { job, context, onEvent } = this.options;
    const { start, attempts, reportedAt, status } = job.state.items[index] ?? {};
    const place = this.#places.find(({ link }) => link.name === start?.machine) ?? this.#places[0];
    if (start === undefined || place === undefined || attempts === undefined) return;
    this.#occupy(place, async () => {
      const item = await job.rows.read(index);
      const attempt = new Attempt(context, item, attempts, place.link);
      if (status !== 'running') {
        await attempt.rejoin(start);
        await this.#endLingering(attempt, reportedAt ?? 0);
        return;
      }
      this.#note(attempt, start.at);
      onEvent({ ...toEvent(item, attempts), type: 'adopted', machine: place.link.name });
      await this.#conclude(attempt, await attempt.adopt(start));
    });
  }

  /** Starts items while there are some, and free places. */
  async #fill(): Promise<void> {
    if (this.#isFilling) return;
    this.#isFilling = true;
    while (!this.#isOver) {
      await this.options.whenReady();
      const place = this.#findPlace();
      const index = place === undefined || this.#isOver ? undefined : this.#takeItem();
      if (place === undefined || index === undefined) break;
      this.#occupy(place, () => this.#start(index, place.link));
    }
    this.#isFilling = false;
    this.#settle();
  }

  /** The machine with most free places, as long as the job may run more. */
  #findPlace(): Place | undefined {
    if (this.#active >= this.options.job.settings.concurrency) return undefined;
    let best: Place | undefined;
    for (const place of this.#places) {
      const free = place.link.slots - place.used;
      if (!place.isLost && free > 0 && (best === undefined || free > best.link.slots - best.used))
        best = place;
    }
    return best;
  }

  /** In the order of rows; those that are tried again come last. */
  #takeItem(): number | undefined {
    const { items } = this.options.job.state;
    while (this.#next < items.length) {
      const index = this.#next++;
      if (items[index]?.status === 'pending') return index;
    }
    return this.#queue.shift();
  }

  #occupy(place: Place, work: () => Promise<void>): void {
    place.used++;
    this.#active++;
    work()
      .catch((error: unknown) => {
        this.#failure ??= { error };
      })
      .finally(() => {
        place.used--;
        this.#active--;
        void this.#fill();
      });
  }

  async #start(index: number, link: MachineLink): Promise<void> {
    const { job, context, onEvent } = this.options;
    const item = await job.rows.read(index);
    const number = (job.state.items[index]?.attempts ?? 0) + 1;
    const attempt = new Attempt(context, item, number, link);
    const at = Date.now();
    const started = job.change({
      type: 'start',
      item: index,
      attempt: number,
      machine: link.name,
      session: link.machine.sessionId ?? '',
      directory: attempt.directory,
      at,
    });
    this.#note(attempt, at);
    const [prepared] = await Promise.allSettled([attempt.prepare()]);
    if (!(await started)) throw new Error(`item ${item.itemId} does not wait to be started`);
    onEvent({ ...toEvent(item, number), type: 'started', machine: link.name });
    if (prepared.status === 'rejected') {
      const error = `failed to spawn worker: ${messageOf(prepared.reason)}`;
      await this.#conclude(attempt, { end: { status: 'failed', error }, stop: false });
      return;
    }
    await this.#conclude(attempt, await attempt.run());
  }

  #note(attempt: Attempt, startedAt: number): void {
    const { item, attempt: number, link } = attempt;
    const running = { ...toEvent(item, number), machine: link.name, startedAt };
    this.#running.set(attempt.index, { attempt, item: running });
    // It has no worker yet, so that this only tells it not to have one.
    if (this.#endsWorkers) void attempt.cancel();
  }

  /** Puts the end on record, and then away what is not needed any more. */
  async #conclude(attempt: Attempt, { end, stop }: Finished): Promise<void> {
    const { job, onEvent } = this.options;
    const canRetry =
      end.status === 'failed' && attempt.attempt <= job.settings.retries && this.#cancelled === undefined;
    const entry = toEndEntry(attempt, end, canRetry);
    try {
      if (!(await job.change(entry))) throw new Error(`item ${attempt.item.itemId} does not run`);
    } finally {
      this.#running.delete(attempt.index);
    }
    const event = toEvent(attempt.item, attempt.attempt);
    if (end.status === 'completed') onEvent({ ...event, type: 'completed', result: end.result });
    else onEvent({ ...event, type: canRetry ? 'retrying' : 'failed', error: end.error });
    if (canRetry) this.#queue.push(attempt.index);
    if (stop) void this.cancel(CANCELLED_BY_WORKER, { endWorkers: false });
    if (end.status === 'completed' && end.reportedAt !== undefined)
      await this.#endLingering(attempt, end.reportedAt);
    else await this.#putAway(attempt);
  }

  /** A worker that has reported has some seconds to end by itself. */
  async #endLingering(attempt: Attempt, reportedAt: number): Promise<void> {
    const left = Math.min(Math.max(reportedAt + WORKER_GRACE_MS - Date.now(), 0), WORKER_GRACE_MS);
    const end = await attempt.linger(left);
    await this.options.job.change({
      type: 'exit',
      item: attempt.index,
      attempt: attempt.attempt,
      outcome: describeEnd(end),
      at: Date.now(),
    });
    await this.#putAway(attempt);
  }

  /** What cannot be put away is left behind; the end of the item is on record. */
  async #putAway(attempt: Attempt): Promise<void> {
    await attempt.dispose().catch(() => {});
  }

  #lose(place: Place): void {
    place.isLost = true;
    void this.#fill();
  }

  #settle(): void {
    if (this.#active > 0 || this.#isFilling) return;
    const isExhausted = this.#isOver || this.#places.every(({ isLost }) => isLost);
    if (isExhausted || (this.#next >= this.options.job.state.items.length && this.#queue.length === 0))
      this.#finish();
  }
}

function toEvent({ itemId, index }: JobItem, attempt: number) {
  return { itemId, rowIndex: index, attempt };
}

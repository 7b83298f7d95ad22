import type { Clock, ClockTimer } from '../clock.js';
import type { Logger } from '../telemetry/logger.js';
import { encodeScreen, type ScreenJob } from './render-screen.js';
import { ScreenThread, ThreadStartError } from './screen-thread.js';

/** Screens of all clients that are rendered or wait for it; one more is refused. */
const MAX_PENDING_SCREENS = 64;

/** Rendered screens that are kept for whoever asks for the same, in bytes of JSON. */
export const MAX_KEPT_SCREEN_BYTES = 8 * 1024 * 1024;

/** Longest time that one screen may take, in milliseconds; the largest one of plain text takes a tenth of it. */
const RENDER_LIMIT_MS = 10_000;

/** How long the thread and the kept screens stay without anybody asking, in milliseconds. */
const IDLE_MS = 10_000;

/** Too many screens wait to be rendered; none of this one was begun. */
export class ScreenLimitError extends Error {
  static {
    ScreenLimitError.prototype.name = 'ScreenLimitError';
  }
}

/** Whose screen it is, and of which moment: the same owner with the same number has the same output. */
export interface ScreenMoment {
  readonly owner: object;
  readonly seq: number;
}

interface KeptScreen {
  readonly seq: number;
  readonly rows: number;
  readonly cols: number;
  readonly json: Promise<Uint8Array<ArrayBuffer>>;
  /** 0 until it is rendered. */
  bytes: number;
}

interface WaitingJob {
  readonly job: ScreenJob;
  begin(json: Promise<Uint8Array<ArrayBuffer>>): void;
}

/**
 * Renders what terminals show, in a thread of its own, one screen after the other. The newest screen of a process is kept
 * while somebody asks for screens, for all who ask for the same one.
 */
export class Screens {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #kept = new Map<object, KeptScreen>();
  readonly #waiting: WaitingJob[] = [];
  #keptBytes = 0;
  #isRendering = false;
  #thread: ScreenThread | undefined;
  #idleTimer: ClockTimer | undefined;

  constructor({ clock, logger }: { readonly clock: Clock; readonly logger: Logger }) {
    this.#clock = clock;
    this.#logger = logger;
  }

  /** The JSON of a screen, which is not to be changed. Throws {@link ScreenLimitError}; rejects when rendering fails. */
  render(moment: ScreenMoment, job: ScreenJob): Promise<Uint8Array<ArrayBuffer>> {
    const found = this.#kept.get(moment.owner);
    if (found?.seq === moment.seq && found.rows === job.rows && found.cols === job.cols) return found.json;
    const pending = this.#waiting.length + (this.#isRendering ? 1 : 0);
    if (pending >= MAX_PENDING_SCREENS)
      throw new ScreenLimitError(`the server renders its limit of ${MAX_PENDING_SCREENS} screens`);
    const json = new Promise<Uint8Array<ArrayBuffer>>((begin) => this.#waiting.push({ job, begin }));
    this.#keep(moment, job, json);
    this.#renderNext();
    return json;
  }

  close(): void {
    this.#idleTimer?.cancel();
    this.#forgetAll();
  }

  #keep({ owner, seq }: ScreenMoment, { rows, cols }: ScreenJob, json: KeptScreen['json']): void {
    this.#forget(owner);
    const kept: KeptScreen = { seq, rows, cols, json, bytes: 0 };
    this.#kept.set(owner, kept);
    const isKept = () => this.#kept.get(owner) === kept;
    json.then(
      ({ length }) => {
        if (!isKept()) return;
        kept.bytes = length;
        this.#keptBytes += length;
        this.#dropOldest();
      },
      () => {
        if (isKept()) this.#forget(owner);
      },
    );
  }

  /** Those that are not rendered yet have no size; whoever waits for them has them anyway. */
  #dropOldest(): void {
    for (const [owner, { bytes }] of this.#kept) {
      if (this.#keptBytes <= MAX_KEPT_SCREEN_BYTES) return;
      if (bytes > 0) this.#forget(owner);
    }
  }

  #forget(owner: object): void {
    this.#keptBytes -= this.#kept.get(owner)?.bytes ?? 0;
    this.#kept.delete(owner);
  }

  #renderNext(): void {
    if (this.#isRendering) return;
    const next = this.#waiting.shift();
    if (next === undefined) {
      this.#endWhenIdle();
      return;
    }
    this.#idleTimer?.cancel();
    this.#isRendering = true;
    const json = this.#render(next.job);
    next.begin(json);
    const goOn = () => {
      this.#isRendering = false;
      this.#renderNext();
    };
    json.then(goOn, goOn);
  }

  async #render(job: ScreenJob): Promise<Uint8Array<ArrayBuffer>> {
    try {
      return await this.#renderInThread(job);
    } catch (err) {
      if (!(err instanceof ThreadStartError)) throw err;
      this.#logger.warn(
        { err },
        'no thread could be started: a screen is rendered where everybody waits for it',
      );
      return encodeScreen(job);
    }
  }

  async #renderInThread(job: ScreenJob): Promise<Uint8Array<ArrayBuffer>> {
    if (this.#thread?.isAlive !== true) this.#thread = new ScreenThread();
    const thread = this.#thread;
    const timer = this.#clock.after(RENDER_LIMIT_MS, () =>
      thread.close(new Error(`the screen takes longer than ${RENDER_LIMIT_MS / 1000} seconds to render`)),
    );
    try {
      return await thread.render(job);
    } finally {
      timer.cancel();
    }
  }

  #endWhenIdle(): void {
    this.#idleTimer?.cancel();
    this.#idleTimer = this.#clock.after(IDLE_MS, () => this.#forgetAll());
  }

  #forgetAll(): void {
    this.#kept.clear();
    this.#keptBytes = 0;
    this.#thread?.close();
    this.#thread = undefined;
  }
}

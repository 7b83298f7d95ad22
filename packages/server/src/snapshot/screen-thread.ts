import { Worker } from 'node:worker_threads';
import { readScreenWorker } from './read-screen-worker.js';
import type { ScreenJob } from './render-screen.js';
import type { ScreenAnswer } from './screen-worker.js';

/** Memory that V8 may take for one screen, in MiB: the largest takes a tenth of it. */
const THREAD_HEAP_MIB = 256;

/** There is no thread, such as for want of descriptors. Another try may succeed. */
export class ThreadStartError extends Error {
  static {
    ThreadStartError.prototype.name = 'ThreadStartError';
  }
}

interface PendingJob {
  resolve(screen: Uint8Array<ArrayBuffer>): void;
  reject(error: Error): void;
}

/** A thread that renders screens, one at a time. It never keeps the program alive. */
export class ScreenThread {
  readonly #worker: Worker;
  #isOnline = false;
  #failure: Error | undefined;
  #job: PendingJob | undefined;

  /** Throws {@link ThreadStartError}. */
  constructor() {
    this.#worker = startWorker();
    this.#worker.unref();
    this.#worker.on('online', () => {
      this.#isOnline = true;
    });
    this.#worker.on('message', (answer: ScreenAnswer) => this.#finish(answer));
    this.#worker.on('error', (error) => this.#end(error));
    this.#worker.on('exit', () => this.#end(new Error('the thread has ended')));
  }

  /** False once it has died. */
  get isAlive(): boolean {
    return this.#failure === undefined;
  }

  /** The JSON of one screen. Rejects with {@link ThreadStartError} when the thread turns out not to run. */
  render(job: ScreenJob): Promise<Uint8Array<ArrayBuffer>> {
    if (this.#job !== undefined) throw new Error('the thread renders a screen already');
    return new Promise((resolve, reject) => {
      if (this.#failure !== undefined) {
        reject(this.#failure);
        return;
      }
      this.#job = { resolve, reject };
      this.#worker.postMessage(job);
    });
  }

  /** Ends the thread. What it renders fails for that reason. */
  close(reason: Error = new Error('the thread is closed')): void {
    this.#end(reason);
    void this.#worker.terminate();
  }

  #finish(answer: ScreenAnswer): void {
    const job = this.#job;
    this.#job = undefined;
    if ('screen' in answer) job?.resolve(answer.screen);
    else job?.reject(new Error(answer.failure));
  }

  #end(error: Error): void {
    this.#failure ??= this.#isOnline ? error : new ThreadStartError(error.message, { cause: error });
    this.#job?.reject(this.#failure);
    this.#job = undefined;
  }
}

let code: string | undefined;

function startWorker(): Worker {
  try {
    code ??= readScreenWorker()?.toString('utf8');
    if (code === undefined) throw new Error('screen-worker.cjs is missing from this installation');
    return new Worker(code, {
      eval: true,
      // Nothing of the server's own is for what parses the output of programs.
      env: {},
      argv: [],
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: THREAD_HEAP_MIB },
      name: 'screens',
    });
  } catch (error) {
    throw new ThreadStartError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

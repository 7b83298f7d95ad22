import { addAbortListener, removeAbortListener } from '@exec-server/rpc';
import { createReadStream } from '../fs/read-stream.js';
import { toPathUri } from '../fs/remote-path.js';
import type { ProcessSession } from '../process-session.js';
import type { SessionClient } from '../session-client.js';
import type { ProcessTarget } from './process-target.js';
import { toSpillFile } from './read-spill.js';

/** The disk may take output a little after its event was told, in milliseconds. */
const DISK_DELAY_MS = 100;

/** The whole output of a process as the server writes it to a file, all streams in the order in which they came. */
export class SpilledOutput {
  readonly #client: SessionClient;
  readonly #target: ProcessTarget;
  readonly #session: Pick<ProcessSession, 'listen' | 'isOver'>;

  constructor(
    client: SessionClient,
    target: ProcessTarget,
    session: Pick<ProcessSession, 'listen' | 'isOver'>,
  ) {
    this.#client = client;
    this.#target = target;
    this.#session = session;
  }

  /** The bytes from `offset` on, as they come, until the output is complete. Returns false where some are missing. */
  async *read(offset: number, signal?: AbortSignal): AsyncGenerator<Uint8Array, boolean> {
    const options = signal && { signal };
    for (let at = offset; signal?.aborted !== true; ) {
      const params = { ...this.#target, timeoutMs: 0 };
      const spill = toSpillFile((await this.#client.call('process/wait', params, options)).spill);
      if (spill === undefined) return false;
      const { sizeBytes, complete, truncated } = spill;
      if (sizeBytes > at) {
        const range = { start: at, end: sizeBytes - 1 };
        yield* createReadStream(this.#client, toPathUri(spill.path), { ...range, ...options });
        at = sizeBytes;
      } else if (complete) return !truncated;
      else await this.#news(signal);
    }
    return true;
  }

  /** Resolves at the next event, or a little later. */
  #news(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const settle = () => {
        clearTimeout(timer);
        stopListening();
        removeAbortListener(signal, settle);
        resolve();
      };
      const timer = setTimeout(settle, DISK_DELAY_MS);
      const stopListening = this.#session.listen(settle);
      addAbortListener(signal, settle);
    });
  }
}

import type { OutputEvent } from '../process-event.js';
import { linkAbort } from './link-abort.js';
import type { ProcessHandle } from './process-handle.js';
import type { OutputCallbacks } from './spawn-options.js';

/** Hears what a run writes as it comes. */
export interface ToldOutput {
  /** Rejects with what a callback threw. Never resolves before {@link ToldOutput.finish}. */
  readonly failed: Promise<never>;
  /** Resolves when everything that has come so far was told. Rejects with what a callback threw. */
  finish(): Promise<void>;
}

/**
 * Tells callbacks what a process writes, one piece after the other, as text whose characters are whole. The process waits
 * for callbacks that return a promise.
 */
export function tellOutput(handle: ProcessHandle, callbacks: OutputCallbacks): ToldOutput {
  const { controller } = linkAbort(undefined);
  const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
  let told = 0;
  let last = Number.POSITIVE_INFINITY;
  const tell = async (stream: 'stdout' | 'stderr', text: string) => {
    if (text === '') return;
    await (stream === 'stdout' ? callbacks.onStdout : callbacks.onStderr)?.(text);
    await callbacks.onOutput?.(text, stream);
  };
  const tellEvent = ({ stream: name, data }: OutputEvent) => {
    const stream = name === 'stderr' ? 'stderr' : 'stdout';
    return tell(stream, decoders[stream].decode(data, { stream: true }));
  };
  const run = async () => {
    for await (const event of handle.events({ signal: controller.signal })) {
      if (event.type === 'output') await tellEvent(event);
      if (event.type !== 'failed') told = event.type === 'gap' ? event.toSeq : event.seq;
      if (told >= last) break;
    }
    for (const stream of ['stdout', 'stderr'] as const) await tell(stream, decoders[stream].decode());
  };
  const running = run();
  const failed = new Promise<never>((_, reject) => {
    running.catch(reject);
  });
  // Whoever waits for the result hears of it; there may be nobody.
  failed.catch(() => {});
  return {
    failed,
    finish() {
      last = handle.cursor;
      if (told >= last) controller.abort();
      return running;
    },
  };
}

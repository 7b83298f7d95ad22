import { randomUUID } from 'node:crypto';
import type { Clock } from '../clock.js';
import type { LaunchedProcess, LaunchPlan } from '../native/launch.js';
import { killOneTree } from '../terminate/kill-one-tree.js';
import { captureScript } from './capture-script.js';
import { parseCapture } from './parse-capture.js';
import { createSnapshot, type Snapshot } from './snapshot.js';
import type { SnapshotShell } from './snapshot-request.js';

/** How long a login may take. */
export const CAPTURE_TIMEOUT_MS = 10_000;
/** Most that a login and the capture may print together, in bytes. */
export const MAX_CAPTURE_OUTPUT_BYTES = 4 * 1024 * 1024;

/** Turns of the loop without output after which a shell that has ended has nothing more to say. */
const QUIET_TURNS = 3;

export interface CaptureOptions {
  launch(plan: LaunchPlan): Promise<LaunchedProcess>;
  readonly clock: Clock;
  /** Takes charge of what the login starts. */
  onLaunched(launched: LaunchedProcess): void;
}

/**
 * Runs the login shell of a plan once and keeps the state that it ends up with. What the login leaves running, such as
 * an agent that the variables point at, is left alone then. When it fails, takes too long or prints too much, all of it
 * is killed. Throws an error that says why there is no snapshot.
 */
export async function runCapture(
  plan: LaunchPlan,
  shell: SnapshotShell,
  options: CaptureOptions,
): Promise<Snapshot> {
  const nonce = randomUUID();
  const launched = await options.launch({
    ...plan,
    argv: [plan.argv[0] ?? '', '-lc', captureScript(shell, nonce)],
    stdio: { kind: 'pipes', stdin: 'null' },
  });
  options.onLaunched(launched);
  try {
    const capture = await collect(launched, nonce, options.clock);
    const snapshot = createSnapshot(shell, capture, plan.env);
    if (snapshot === undefined) throw new Error('the state of the shell is too large');
    return snapshot;
  } catch (error) {
    await killOneTree(launched);
    throw error;
  } finally {
    for (const source of launched.outputs) source.destroy();
  }
}

type CompleteCapture = NonNullable<ReturnType<typeof parseCapture>>;

function collect(launched: LaunchedProcess, nonce: string, clock: Clock): Promise<CompleteCapture> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    let hasEnded = false;
    const timer = clock.after(CAPTURE_TIMEOUT_MS, () => finish('the login takes too long'));
    const finish = (failure: string) => {
      timer.cancel();
      const capture = hasEnded ? parseCapture(Buffer.concat(chunks), nonce) : undefined;
      if (capture === undefined) reject(new Error(failure));
      else resolve(capture);
    };
    for (const source of launched.outputs) {
      const take = (chunk: Buffer) => {
        if (source.stream !== 'stdout') return;
        bytes += chunk.length;
        if (bytes > MAX_CAPTURE_OUTPUT_BYTES) finish('the login prints too much');
        else chunks.push(chunk);
      };
      source.start(take, () => {});
    }
    // Not the end of the output, which whatever the login left running may hold open.
    void launched.exit.then(async () => {
      hasEnded = true;
      for (let quiet = 0, seen = bytes; quiet < QUIET_TURNS; quiet = bytes === seen ? quiet + 1 : 0) {
        seen = bytes;
        await new Promise(setImmediate);
      }
      finish('the login ended without an answer');
    });
  });
}

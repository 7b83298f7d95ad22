import type { Clock } from '../clock.js';
import type { Launcher } from '../native/launch.js';
import { collectTrees } from '../native/process-tree.js';
import type { ProcessRegistry } from '../process/process-registry.js';
import type { SessionRegistry } from '../sessions/session-registry.js';
import type { Logger } from '../telemetry/logger.js';
import { killTrees, stopAndKill } from './kill-trees.js';
import { takeDueTrees } from './on-session-end.js';
import { untilGone } from './until-gone.js';

/** What the end of a server works with. */
export interface ShutdownOptions {
  readonly launcher: Pick<Launcher, 'findUnclaimed' | 'isUnclaimed'>;
  readonly clock: Clock;
  readonly graceMs: number;
  readonly logger: Logger;
}

/** Ends every session and resolves when their processes are gone and on record, or `graceMs` have passed. */
export async function terminateOnShutdown(
  sessions: SessionRegistry,
  processes: ProcessRegistry,
  { launcher, clock, graceMs, logger }: ShutdownOptions,
): Promise<void> {
  const ends: Promise<unknown>[] = Array.from(processes.processes(), ({ recorded }) => recorded);
  sessions.endAll();
  // Those that outlive their sessions do not outlive the server.
  const { refusal, rest, done } = killTrees([...processes.processes(), ...takeDueTrees()]);
  if (refusal !== undefined) logger.warn({ err: refusal }, 'some processes could not be ended');
  const timeUp = new AbortController();
  const unclaimed = killUnclaimed(launcher, logger);
  ends.push(untilGone(unclaimed, { clock, signal: timeUp.signal }));
  if (rest !== undefined) ends.push(rest);
  if (done !== undefined) ends.push(done);
  await new Promise<void>((resolve) => {
    const timer = clock.after(graceMs, resolve);
    void Promise.allSettled(ends).then(() => {
      timer.cancel();
      resolve();
    });
  });
  timeUp.abort();
}

/** Ends who came from some process of the server, and nothing says from which. Returns who that was. */
function killUnclaimed(launcher: ShutdownOptions['launcher'], logger: Logger): readonly number[] {
  if (launcher.findUnclaimed === undefined) return [];
  const look = () => {
    const found = launcher.findUnclaimed?.() ?? [];
    return found.length === 0 ? [] : collectTrees(found.map(({ pid }) => pid));
  };
  const { pids, refusal, failure } = stopAndKill([], look, (pid) => launcher.isUnclaimed?.(pid) ?? false);
  const err = refusal ?? failure;
  if (err !== undefined) logger.warn({ err }, 'some processes that lost their parents could not be ended');
  return pids;
}

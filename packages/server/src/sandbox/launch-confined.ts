import { setTimeout as sleep } from 'node:timers/promises';
import type { LaunchedProcess, Launcher, LaunchPlan } from '../native/launch.js';
import { collectLeaders } from '../native/leftover-sweep.js';
import { findChildren, type NamedProcess } from '../native/namespace-members.js';
import { toOsError } from '../native/node-error.js';
import { readProcess } from '../native/process-tree.js';
import { OsError } from '../os-error.js';
import { killOneTree } from '../terminate/kill-one-tree.js';
import type { ConfinedLaunch, ConfineOptions } from './backend.js';
import type { SandboxBackends } from './backends.js';
import { ConfinedProcess } from './confined-process.js';
import type { ResolvedPolicy } from './policy/policy.js';
import { PolicyError } from './policy/policy-error.js';
import { describeFailure, parseStatus } from './program/status.js';

/** Most that is kept of what whoever makes a sandbox says when that fails, in bytes. */
const MAX_COMPLAINT_BYTES = 4_096;

/** Time between looks whether a sandbox is empty at which it is left to the next sweep, in milliseconds. */
const LONGEST_PAUSE_MS = 64;

export interface LaunchConfinedOptions extends ConfineOptions {
  readonly launcher: Launcher;
  readonly backends: SandboxBackends;
  /** Takes charge of what was launched, before it is known whether it becomes the program. */
  readonly onLaunched: (launched: LaunchedProcess) => void;
  /** Called when nobody is left in the sandbox, and nothing of it on disk. */
  readonly onEmpty?: () => void;
}

/**
 * Starts a program in a sandbox and waits until it runs. Throws {@link PolicyError} when the policy cannot be kept here,
 * and `OsError` when the program cannot be started, as without a sandbox.
 */
export async function launchConfined(
  policy: ResolvedPolicy,
  plan: LaunchPlan,
  { launcher, backends, onLaunched, onEmpty = () => {}, ...options }: LaunchConfinedOptions,
): Promise<LaunchedProcess> {
  const backend = await backends.choose(policy, options);
  const confined = await backend.assemble(policy, plan, options);
  const launched = await tryLaunch(launcher, confined);
  onLaunched(launched);
  const report = confined.status.report;
  // Not before who waits inside is known.
  void report
    .then(() => whenEmpty(launched, confined))
    .then(() => confined.ended())
    .then(onEmpty);
  const { entered, failure } = parseStatus(await report);
  if (!entered) {
    const reason = failure && describeFailure(failure);
    if (reason !== undefined) discard(launched);
    throw new PolicyError(
      'unenforceable',
      `failed to prepare process sandbox: ${reason ?? (await readComplaint(launched))}`,
    );
  }
  if (failure !== undefined) {
    discard(launched);
    throw new OsError(failure.errno, failure.step);
  }
  return confined.keepers === 'none' ? launched : takeCharge(launched, confined.keepers);
}

function takeCharge(launched: LaunchedProcess, keepers: 'exact' | 'coded'): ConfinedProcess {
  try {
    return new ConfinedProcess(launched, keepers);
  } catch (error) {
    discard(launched);
    throw toOsError(error, 'open');
  }
}

/**
 * Resolves when nobody is left in a sandbox, and its mounts are gone with them. That is when who waits in there is gone:
 * the others do not outlive him, and he waits for them.
 */
async function whenEmpty(launched: LaunchedProcess, { keepers }: ConfinedLaunch): Promise<void> {
  try {
    const [init] = keepers === 'none' ? [] : findChildren(launched.pid);
    await launched.exit;
    for (let pauseMs = 1; keepers !== 'none' && pauseMs <= LONGEST_PAUSE_MS; pauseMs *= 2) {
      if (!(await isLeft(launched, init))) return;
      await sleep(pauseMs, undefined, { ref: false });
    }
  } catch {
    // Nobody can look now; the sweep looks until it can.
  }
  await launched.gone;
}

/**
 * Whether who waits inside of a sandbox is there.
 * @param init nobody where the program was too quick for him to be seen; he cannot leave the session that he began in
 */
async function isLeft({ pid }: LaunchedProcess, init: NamedProcess | undefined): Promise<boolean> {
  if (init !== undefined) return readProcess(init.pid)?.startTime === init.startTime;
  return (await collectLeaders()).has(pid);
}

async function tryLaunch(launcher: Launcher, confined: ConfinedLaunch): Promise<LaunchedProcess> {
  try {
    return launcher.launch(confined.plan);
  } catch (error) {
    await confined.ended();
    throw error;
  } finally {
    confined.started();
  }
}

/** What whoever makes the sandbox said before he gave up. */
async function readComplaint(launched: LaunchedProcess): Promise<string> {
  const chunks: Buffer[] = [];
  const ends = launched.outputs.map(
    (source) => new Promise<void>((resolve) => source.start((chunk) => void chunks.push(chunk), resolve)),
  );
  const status = await launched.exit;
  await killOneTree(launched);
  await Promise.all(ends);
  launched.input?.close();
  const text = Buffer.concat(chunks).subarray(0, MAX_COMPLAINT_BYTES).toString().trim();
  return text === '' ? `the sandbox ended without a word: ${JSON.stringify(status)}` : text;
}

function discard(launched: LaunchedProcess): void {
  void killOneTree(launched, () => {
    for (const source of launched.outputs) source.destroy();
    launched.input?.close();
  });
}

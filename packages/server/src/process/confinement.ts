import type { SandboxContext } from '@exec-server/protocol';
import type { LaunchedProcess, LaunchPlan } from '../native/launch.js';
import { requireBubblewrap } from '../sandbox/bubblewrap/confine.js';
import { launchConfined } from '../sandbox/bubblewrap/launch-confined.js';
import { isOpen, type ResolvedPolicy } from '../sandbox/policy/policy.js';
import { PolicyError } from '../sandbox/policy/policy-error.js';
import { resolvePolicy } from '../sandbox/policy/resolve-policy.js';
import type { Session } from '../sessions/session.js';
import { killTrees } from '../terminate/kill-trees.js';
import type { StartRequest } from './launch-plan.js';
import type { ProcessEngine } from './process-engine.js';
import type { ProcessSlot } from './process-registry.js';
import { StartError } from './start-error.js';

/** What confines a process, as far as the request says. */
export interface Confinement {
  readonly sandbox?: SandboxContext | null | undefined;
}

/** Throws {@link StartError} for a sandbox that cannot be made here, before anything else of the request counts. */
export function refuseUnenforceable({ sandbox }: Confinement, { cwd }: StartRequest): void {
  explainRefusal(() => {
    if (sandbox && !isOpen(resolvePolicy(sandbox, { temporaryDirectories: [], cwd }))) requireBubblewrap();
  });
}

/**
 * What a planned process may do; nothing when the request takes nothing away. `tmpdir` is where the process itself looks
 * for it.
 */
export function resolveConfinement(
  { sandbox }: Confinement,
  { env, cwd }: LaunchPlan,
): ResolvedPolicy | undefined {
  if (!sandbox) return undefined;
  const temporary = env.get('TMPDIR');
  const temporaryDirectories = temporary === undefined ? [] : [temporary];
  const policy = explainRefusal(() => resolvePolicy(sandbox, { temporaryDirectories, cwd }));
  return isOpen(policy) ? undefined : policy;
}

/** Who starts something in a sandbox. */
export interface ConfinedStart {
  readonly engine: ProcessEngine;
  readonly session: Session;
  readonly slot: ProcessSlot;
}

/** Starts a program in a sandbox. Whoever cancels the start or ends the session meanwhile ends it as well. */
export async function launchInSandbox(
  { engine, session, slot }: ConfinedStart,
  policy: ResolvedPolicy,
  plan: LaunchPlan,
): Promise<LaunchedProcess> {
  let child: LaunchedProcess | undefined;
  try {
    return await launchConfined(policy, plan, {
      launcher: engine.launcher,
      onLaunched: (launched) => {
        child = launched;
        session.trees.add(launched);
        void slot.cancelled.then(() => killTrees([launched]));
      },
    });
  } catch (error) {
    throw error instanceof PolicyError ? toStartError(error) : error;
  } finally {
    // From here on whoever gets the process answers for it.
    if (child !== undefined) session.trees.delete(child);
  }
}

function explainRefusal<T>(resolve: () => T): T {
  try {
    return resolve();
  } catch (error) {
    throw error instanceof PolicyError ? toStartError(error) : error;
  }
}

function toStartError(error: PolicyError): StartError {
  return new StartError('refused', error.message, { cause: error });
}

import type { ManagedNetwork, NetworkProxyLaunch, SandboxContext } from '@exec-server/protocol';
import type { LaunchedProcess, LaunchPlan } from '../native/launch.js';
import type { Doorway } from '../sandbox/backend.js';
import { launchConfined } from '../sandbox/launch-confined.js';
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
  /** A proxy to start for the process, on which it depends for the network. */
  readonly networkProxy?: NetworkProxyLaunch | null | undefined;
  /** In a sandbox: leaves the process nothing of the network but a proxy, whatever the sandbox says of it. */
  readonly enforceManagedNetwork?: boolean | undefined;
  /** What is known of a proxy that is there already. */
  readonly managedNetwork?: ManagedNetwork | null | undefined;
}

/**
 * Throws {@link StartError} for a sandbox that cannot be made here, before anything else of the request counts. Whoever
 * can be sure of it at once need not wait, so that the start can be called off from its first moment on.
 */
export function refuseUnenforceable(
  { sandboxes }: ProcessEngine,
  confinement: Confinement,
  { cwd }: StartRequest,
): Promise<void> | undefined {
  const policy = explainRefusal(() => resolve(confinement, { temporaryDirectories: [], cwd }));
  if (policy === undefined || isOpen(policy) || sandboxes.surelyKeeps(policy)) return undefined;
  return sandboxes.choose(policy).then(
    () => {},
    (error: unknown) => {
      throw error instanceof PolicyError ? toStartError(error) : error;
    },
  );
}

/** Whether a process gets a network of its own, in which there is nothing. Throws {@link StartError}. */
export function hasOwnNetwork(confinement: Confinement, { cwd }: StartRequest): boolean {
  const policy = explainRefusal(() => resolve(confinement, { temporaryDirectories: [], cwd }));
  return policy?.network === 'restricted';
}

/**
 * What a planned process may do; nothing when the request takes nothing away. `tmpdir` is where the process itself looks
 * for it.
 */
export function resolveConfinement(
  confinement: Confinement,
  { env, cwd }: LaunchPlan,
): ResolvedPolicy | undefined {
  const temporary = env.get('TMPDIR');
  const temporaryDirectories = temporary === undefined ? [] : [temporary];
  const policy = explainRefusal(() => resolve(confinement, { temporaryDirectories, cwd }));
  return policy === undefined || isOpen(policy) ? undefined : policy;
}

function resolve(
  { sandbox, enforceManagedNetwork }: Confinement,
  host: Parameters<typeof resolvePolicy>[1],
): ResolvedPolicy | undefined {
  if (!sandbox) return undefined;
  const policy = resolvePolicy(sandbox, host);
  return enforceManagedNetwork === true ? { ...policy, network: 'restricted' } : policy;
}

/** Who starts something in a sandbox. */
export interface ConfinedStart {
  readonly engine: ProcessEngine;
  readonly session: Session;
  /** The start that ends it when it is called off. */
  readonly slot?: ProcessSlot;
}

/** Starts a program in a sandbox. Whoever cancels the start or ends the session meanwhile ends it as well. */
export async function launchInSandbox(
  { engine, session, slot }: ConfinedStart,
  policy: ResolvedPolicy,
  plan: LaunchPlan,
  doorway?: Doorway,
): Promise<LaunchedProcess> {
  let child: LaunchedProcess | undefined;
  try {
    return await launchConfined(policy, plan, {
      launcher: engine.launcher,
      backends: engine.sandboxes,
      doorway,
      onLaunched: (launched) => {
        child = launched;
        session.trees.add(launched);
        void slot?.cancelled.then(() => killTrees([launched]));
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

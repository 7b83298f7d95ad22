import type { ManagedNetwork, NetworkProxyLaunch, SandboxContext } from '@exec-server/protocol';
import { type Known, whenKnown } from '../loop-turn.js';
import type { LaunchedProcess, LaunchPlan } from '../native/launch.js';
import type { Doorway } from '../sandbox/backend.js';
import { refuseTooManyRules } from '../sandbox/bubblewrap/plan-mounts.js';
import { launchConfined } from '../sandbox/launch-confined.js';
import { isOpen, type ResolvedPolicy } from '../sandbox/policy/policy.js';
import { PolicyError } from '../sandbox/policy/policy-error.js';
import { asksForTemporary, networkOf, resolvePolicy } from '../sandbox/policy/resolve-policy.js';
import type { Session } from '../sessions/session.js';
import { killOneTree } from '../terminate/kill-one-tree.js';
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
 * What a process may do, as far as its variables do not matter; nothing when the request takes nothing away. Known at once
 * unless it has very many rules, or nobody knows yet what makes sandboxes here. Throws or rejects with {@link StartError}
 * for a sandbox that cannot be made here.
 */
export function checkConfinement(
  { sandboxes }: ProcessEngine,
  confinement: Confinement,
  { cwd }: StartRequest,
): Known<ResolvedPolicy | undefined> {
  return explainRefusal(() =>
    whenKnown(resolve(confinement, { temporaryDirectories: [], cwd }), (policy) => {
      if (policy === undefined || isOpen(policy)) return policy;
      refuseTooManyRules(policy.files);
      return sandboxes.surelyKeeps(policy) ? policy : sandboxes.choose(policy).then(() => policy);
    }),
  );
}

/** Whether a process gets a network of its own, in which there is nothing. */
export function hasOwnNetwork({ sandbox, enforceManagedNetwork }: Confinement): boolean {
  return sandbox ? enforceManagedNetwork === true || networkOf(sandbox) === 'restricted' : false;
}

/**
 * What a planned process may do; nothing when the request takes nothing away. `tmpdir` is where the process itself looks
 * for it.
 * @param checked what the process may do without that
 */
export function resolveConfinement(
  confinement: Confinement,
  checked: ResolvedPolicy | undefined,
  { env, cwd }: LaunchPlan,
): Known<ResolvedPolicy | undefined> {
  const temporary = env.get('TMPDIR');
  const asks = confinement.sandbox ? asksForTemporary(confinement.sandbox) : false;
  const policy =
    temporary === undefined || !asks
      ? checked
      : explainRefusal(() => resolve(confinement, { temporaryDirectories: [temporary], cwd }));
  return whenKnown(policy, (known) => (known === undefined || isOpen(known) ? undefined : known));
}

function resolve(
  { sandbox, enforceManagedNetwork }: Confinement,
  host: Parameters<typeof resolvePolicy>[1],
): Known<ResolvedPolicy | undefined> {
  if (!sandbox) return undefined;
  return whenKnown(resolvePolicy(sandbox, host), (policy) =>
    enforceManagedNetwork === true ? { ...policy, network: 'restricted' } : policy,
  );
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
        void slot?.cancelled.then(() => killOneTree(launched));
      },
    });
  } catch (error) {
    throw error instanceof PolicyError ? toStartError(error) : error;
  } finally {
    // From here on whoever gets the process answers for it.
    if (child !== undefined) session.trees.delete(child);
  }
}

function explainRefusal<T>(work: () => Known<T>): Known<T> {
  const explain = (error: unknown): never => {
    throw error instanceof PolicyError ? toStartError(error) : error;
  };
  try {
    const value = work();
    return value instanceof Promise ? value.catch(explain) : value;
  } catch (error) {
    return explain(error);
  }
}

function toStartError(error: PolicyError): StartError {
  return new StartError('refused', error.message, { cause: error });
}

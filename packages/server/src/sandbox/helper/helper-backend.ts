import { access } from 'node:fs/promises';
import type { LaunchPlan } from '../../native/launch.js';
import type { ConfinedLaunch, ConfineOptions, SandboxBackend, Trial, Verdict } from '../backend.js';
import { thisArchitecture } from '../bubblewrap/architecture.js';
import { NAMESPACES_HINT } from '../bubblewrap/bubblewrap-backend.js';
import { buildSeccompFilter, chooseSockets } from '../bubblewrap/seccomp-filter.js';
import { LaunchDescriptors } from '../launch-descriptors.js';
import type { ResolvedPolicy } from '../policy/policy.js';
import { unenforceable } from '../policy/policy-error.js';
import { type PreparedView, prepareView } from '../prepare-view.js';
import { describeEntry } from '../program/enter.js';
import { encodePlan, listWords, type Word } from '../program/plan.js';
import { openProgram, ProgramUnavailableError } from '../program/program-file.js';
import { programArgv, runProgram } from '../program/run-program.js';
import { describeFailure } from '../program/status.js';
import { describeView, findKernelFiles } from './describe-view.js';

const ENOSYS = 38;

/** Says that the kernel has namespaces of cgroups. */
const CGROUP_NAMESPACE = '/proc/self/ns/cgroup';

const KERNEL_HINT = 'use Linux 5.12 or newer';

/** Makes sandboxes with the sandbox program alone. */
export class HelperBackend implements SandboxBackend {
  readonly name = 'helper';
  readonly makesViews = true;

  async probe(): Promise<Trial> {
    const architecture = thisArchitecture();
    try {
      const { failure } = await runProgram([
        ...(await describeNamespaces('own')),
        ...describeView({ root: 'read', mounts: [], targets: [] }, await findKernelFiles()),
        ...ENTER,
        ...(architecture === undefined
          ? []
          : ['seccomp', buildSeccompFilter(architecture, 'unix').toString('hex')]),
        'done',
      ]);
      if (failure === undefined) return { works: true };
      const hint = failure.errno === ENOSYS ? KERNEL_HINT : NAMESPACES_HINT;
      return { works: false, reason: describeFailure(failure), step: failure.step, hint };
    } catch (error) {
      if (error instanceof ProgramUnavailableError) return { works: false, reason: error.message };
      throw error;
    }
  }

  canKeep(): Verdict {
    return { keeps: true };
  }

  async assemble(policy: ResolvedPolicy, plan: LaunchPlan, options: ConfineOptions): Promise<ConfinedLaunch> {
    const program = await openProgram();
    const kernel = await findKernelFiles();
    const namespaces = await describeNamespaces(policy.network === 'enabled' ? 'shared' : 'own');
    const prepared = await prepareView(policy, options);
    try {
      const words = [
        // Nobody outlives the server, however that ends.
        'parent-death',
        process.pid,
        ...namespaces,
        ...describeView(prepared.view, kernel),
        ...(options.readOnlyProc ? ['attributes', '/proc', 'read-only'] : []),
        ...ENTER,
      ];
      return assemble({ program, words, policy, plan, prepared, options });
    } catch (error) {
      await prepared.release();
      throw error;
    }
  }
}

/** Leaves the host, and every privilege; somebody stays to wait for orphans. */
const ENTER = ['pivot', 'capabilities', 'init'];

async function describeNamespaces(network: 'shared' | 'own'): Promise<Word[]> {
  const kinds = ['user', 'mount', 'pid', 'ipc'];
  if (await hasCgroupNamespaces()) kinds.push('cgroup');
  if (network === 'own') kinds.push('net');
  return [
    'namespaces',
    ...listWords(kinds),
    'map-user',
    process.geteuid!(),
    process.getegid!(),
    ...(network === 'own' ? ['loopback'] : []),
  ];
}

let cgroupNamespaces: Promise<boolean> | undefined;

function hasCgroupNamespaces(): Promise<boolean> {
  cgroupNamespaces ??= access(CGROUP_NAMESPACE).then(
    () => true,
    () => false,
  );
  return cgroupNamespaces;
}

interface Parts {
  /** Descriptor of the sandbox program. */
  readonly program: number;
  /** The plan as far as into the sandbox. */
  readonly words: readonly Word[];
  readonly policy: ResolvedPolicy;
  readonly plan: LaunchPlan;
  readonly prepared: PreparedView;
  readonly options: ConfineOptions;
}

function assemble({ program, words, policy, plan, prepared, options }: Parts): ConfinedLaunch {
  const architecture = thisArchitecture();
  if (architecture === undefined) throw unenforceable('system calls of this processor cannot be filtered');
  const descriptors = new LaunchDescriptors(plan.extraDescriptors);
  try {
    const status = descriptors.openStatus();
    const programFd = descriptors.add(program);
    const entry = describeEntry({
      plan,
      ownDescriptorsFrom: descriptors.first,
      handover: options.doorway && descriptors.addDoorway(options.doorway),
      filters: [buildSeccompFilter(architecture, chooseSockets(policy, options))],
      privateStreams: options.privateStreams,
      ownSession: true,
    });
    const planFd = descriptors.addFile(encodePlan([...words, ...entry]));
    return {
      plan: {
        program: `/proc/self/fd/${programFd}`,
        argv: programArgv(planFd, status.as),
        cwd: plan.cwd,
        // The program's own is in the plan.
        env: new Map(),
        stdio: plan.stdio.kind === 'pty' ? { ...plan.stdio, leaveTerminal: true } : plan.stdio,
        extraDescriptors: [...plan.extraDescriptors, ...descriptors.added],
      },
      keepers: 'exact',
      status: status.pipe,
      started: () => {
        status.pipe.handOver();
        descriptors.closeFiles();
      },
      ended: () => {
        status.pipe.close();
        return prepared.release();
      },
    };
  } catch (error) {
    descriptors.closeAll();
    throw error;
  }
}

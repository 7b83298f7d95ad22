import type { LaunchPlan } from '../../native/launch.js';
import { runBrieflyAside } from '../../native/run-briefly.js';
import type { ConfinedLaunch, ConfineOptions, SandboxBackend, Trial, Verdict } from '../backend.js';
import { LaunchDescriptors } from '../launch-descriptors.js';
import type { ResolvedPolicy } from '../policy/policy.js';
import { unenforceable } from '../policy/policy-error.js';
import { type PreparedView, prepareView } from '../prepare-view.js';
import { describeEntry } from '../program/enter.js';
import { encodePlan } from '../program/plan.js';
import { openProgram, ProgramUnavailableError } from '../program/program-file.js';
import { programArgv } from '../program/run-program.js';
import { type Architecture, thisArchitecture } from './architecture.js';
import { describeNamespaces, describeView, encodeArguments } from './arguments.js';
import { findBubblewrap } from './find-bubblewrap.js';
import { buildSeccompFilter, chooseSockets } from './seccomp-filter.js';

/** Words that bubblewrap reads at most, its own command line included. */
export const MAX_ARGUMENTS = 9_000;

/** Paths that rules may deny one by one: each needs a descriptor while the sandbox is made. */
const MAX_HIDDEN_FILES = 512;

/** Longest that a trial may take, in milliseconds. */
const TRIAL_TIMEOUT_MS = 5_000;

/** What a trial is made with: everything that the system may refuse to make for this user. */
const TRIAL =
  '--unshare-user --unshare-pid --unshare-ipc --unshare-net --ro-bind / / --dev /dev --proc /proc -- /bin/true'.split(
    ' ',
  );

export const NAMESPACES_HINT =
  'allow unprivileged user namespaces, as with `sysctl kernel.apparmor_restrict_unprivileged_userns=0` or ' +
  '`sysctl kernel.unprivileged_userns_clone=1`, or in a container, run it with the rights to make namespaces';

/** Makes sandboxes with bubblewrap; the sandbox program makes the last step into them. */
export class BubblewrapBackend implements SandboxBackend {
  readonly name = 'bubblewrap';
  readonly makesViews = true;

  async probe(): Promise<Trial> {
    try {
      await openProgram();
    } catch (error) {
      if (error instanceof ProgramUnavailableError) return { works: false, reason: error.message };
      throw error;
    }
    const found = await findBubblewrap();
    if (!found.available) {
      const { reason, hint } = found;
      return { works: false, reason, ...(hint === undefined ? {} : { hint }) };
    }
    const complaint = await tryBubblewrap(found.path);
    if (complaint !== undefined) return { works: false, reason: complaint, hint: NAMESPACES_HINT };
    return { works: true, detail: `${found.path} ${found.version}` };
  }

  canKeep(): Verdict {
    return { keeps: true };
  }

  async assemble(policy: ResolvedPolicy, plan: LaunchPlan, options: ConfineOptions): Promise<ConfinedLaunch> {
    const bubblewrap = await findBubblewrap();
    const architecture = thisArchitecture();
    if (!bubblewrap.available || architecture === undefined)
      throw unenforceable(bubblewrap.available ? 'unknown processor' : bubblewrap.reason);
    const program = await openProgram();
    const prepared = await prepareView(policy, options);
    try {
      return assemble({ path: bubblewrap.path, program, architecture, policy, plan, prepared, options });
    } catch (error) {
      await prepared.release();
      throw error;
    }
  }
}

/** What bubblewrap says against a sandbox; nothing when it makes one. */
async function tryBubblewrap(path: string): Promise<string | undefined> {
  const { status, stderr } = await runBrieflyAside(path, TRIAL, TRIAL_TIMEOUT_MS);
  return status === 0 ? undefined : stderr.trim() || 'bubblewrap ended without a word';
}

interface Parts {
  readonly path: string;
  /** Descriptor of the sandbox program. */
  readonly program: number;
  readonly architecture: Architecture;
  readonly policy: ResolvedPolicy;
  readonly plan: LaunchPlan;
  readonly prepared: PreparedView;
  readonly options: ConfineOptions;
}

function assemble({ path, program, architecture, policy, plan, prepared, options }: Parts): ConfinedLaunch {
  const descriptors = new LaunchDescriptors(plan.extraDescriptors);
  try {
    const status = descriptors.openStatus();
    const filterFd = descriptors.addFile(buildSeccompFilter(architecture, chooseSockets(policy, options)));
    const programFd = descriptors.add(program);
    const entry = describeEntry({
      plan,
      ownDescriptorsFrom: descriptors.first,
      handover: options.doorway && descriptors.addDoorway(options.doorway),
      privateStreams: options.privateStreams,
      ownSession: true,
    });
    const planFd = descriptors.addFile(encodePlan(entry));
    const openEmptyFile = limitEmptyFiles(descriptors);
    const words = [
      ...describeNamespaces(policy.network === 'enabled' ? 'shared' : 'own'),
      ...describeView(prepared.view, openEmptyFile),
      ...(options.readOnlyProc ? ['--remount-ro', '/proc'] : []),
      '--seccomp',
      String(filterFd),
      '--chdir',
      '/',
    ];
    const argumentsFd = descriptors.addFile(encodeArguments(words));
    const [, ...programArguments] = programArgv(planFd, status.as);
    const argv = [
      'bwrap',
      '--args',
      String(argumentsFd),
      '--',
      `/proc/self/fd/${programFd}`,
      ...programArguments,
    ];
    refuseTooManyArguments(argv.length + words.length);
    return {
      plan: {
        program: path,
        argv,
        cwd: plan.cwd,
        // The program's own comes with its plan; bubblewrap needs none.
        env: new Map(),
        stdio: plan.stdio.kind === 'pty' ? { ...plan.stdio, leaveTerminal: true } : plan.stdio,
        extraDescriptors: [...plan.extraDescriptors, ...descriptors.added],
      },
      keepers: 'coded',
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

/** Throws `PolicyError` for a sandbox that takes more words to describe than bubblewrap reads. */
export function refuseTooManyArguments(count: number): void {
  if (count <= MAX_ARGUMENTS) return;
  throw unenforceable(
    `bubblewrap takes at most ${MAX_ARGUMENTS} arguments, and this sandbox needs ${count}; name directories instead of what is in them`,
  );
}

/** The same file every time, under another number, because bubblewrap closes each when it has read it. */
function limitEmptyFiles(descriptors: LaunchDescriptors): () => number {
  const file = descriptors.makeFile(Buffer.alloc(0));
  let count = 0;
  return () => {
    if (++count > MAX_HIDDEN_FILES)
      throw unenforceable(`more than ${MAX_HIDDEN_FILES} files are denied one by one`);
    return descriptors.add(file.fd);
  };
}

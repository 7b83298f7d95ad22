import { mapInTurns } from '../../loop-turn.js';
import type { DescriptorDoor } from '../../native/descriptor-door.js';
import type { LaunchPlan } from '../../native/launch.js';
import { createMemoryFile, type MemoryFile } from '../../native/memory-file.js';
import { openReportPipe, type ReportPipe } from '../../native/report-pipe.js';
import type { ResolvedPolicy } from '../policy/policy.js';
import { unenforceable } from '../policy/policy-error.js';
import { type Architecture, thisArchitecture } from './architecture.js';
import { describeNamespaces, describeView, encodeArguments } from './arguments.js';
import type { SocketHandover, SocketRequest } from './entry-calls.js';
import { buildEntryProgram } from './entry-program.js';
import { type Bubblewrap, findBubblewrap } from './find-bubblewrap.js';
import { holdMountTarget, type MountTarget } from './mount-targets.js';
import { forbidWriting, type MountPlan, planMounts, refuseTooManyRules } from './plan-mounts.js';
import { type AllowedSockets, buildSeccompFilter } from './seccomp-filter.js';

/** Words that bubblewrap reads at most, its own command line included. */
export const MAX_ARGUMENTS = 9_000;

/** Paths that rules may deny one by one: each needs a descriptor while the sandbox is made. */
export const MAX_HIDDEN_FILES = 512;

/** Mount targets that are put in place, or taken away, at once. */
const CONCURRENT_TARGETS = 16;

/** Sockets of a sandbox's own network that this process is to get, in this order, and through what. */
export interface Doorway {
  readonly sockets: readonly Omit<SocketRequest, 'as'>[];
  readonly door: DescriptorDoor;
}

export interface ConfineOptions {
  /**
   * Makes sockets in the network of a program whose own is restricted, and hands them over to this process. The program
   * may make sockets of the internet families then, which reach nothing but these and its own.
   * @default it may make none
   */
  readonly doorway?: Doorway | undefined;
  /**
   * Lets the program write nothing, whatever the policy says. Then nothing has to be put on disk to keep paths from being
   * made.
   * @default false
   */
  readonly readOnly?: boolean;
  /**
   * Whether the program makes no connections, so that sockets need not be hidden from it.
   * @default false
   */
  readonly offline?: boolean;
  /**
   * Lets the program write nothing in `/proc`, where it could change itself: for one that writes what others tell it.
   * @default false
   */
  readonly readOnlyProc?: boolean;
}

/** A launch inside of a sandbox, ready to be made, and what it holds. */
export interface ConfinedLaunch {
  readonly plan: LaunchPlan;
  /** Says how the last step into the sandbox went, see {@link readEntry}. */
  readonly entry: ReportPipe;
  /** Lets go of what only the start needs. Call it when the launch was made, or was not. */
  started(): void;
  /** Lets go of everything else. Call it when nothing of the sandbox is left. Never rejects. */
  ended(): Promise<void>;
}

/**
 * Turns the launch of a program into the launch of the same program inside of a sandbox. Descriptors, terminal, directory,
 * arguments and environment stay what they are. Throws `PolicyError` when the policy cannot be kept, and `OsError`.
 */
export async function confine(
  policy: ResolvedPolicy,
  plan: LaunchPlan,
  options: ConfineOptions = {},
): Promise<ConfinedLaunch> {
  const { path, architecture } = requireSandbox(policy);
  const wanted = await planMounts(policy.files, options.offline ? 'unused' : policy.network);
  const view = options.readOnly ? forbidWriting(wanted) : wanted;
  const targets = await holdTargets(view);
  try {
    return assemble({
      path,
      architecture,
      policy,
      plan,
      view: settle(view, targets),
      options,
      targets,
    });
  } catch (error) {
    await releaseTargets(targets);
    throw error;
  }
}

/**
 * Finds what makes the sandbox of a policy. Throws `PolicyError` that says what is missing and how to get it, and for a
 * policy of more rules than can be kept.
 */
export function requireSandbox({ files }: ResolvedPolicy): Extract<Bubblewrap, { available: true }> & {
  architecture: Architecture;
} {
  refuseTooManyRules(files);
  const bubblewrap = findBubblewrap();
  const architecture = thisArchitecture();
  if (!bubblewrap.available || architecture === undefined) {
    const { reason = '', hint } = bubblewrap.available ? {} : bubblewrap;
    const advice = hint === undefined ? '' : `; ${hint}`;
    throw unenforceable(`${reason}${advice}`);
  }
  return { ...bubblewrap, architecture };
}

interface HeldTarget {
  readonly path: Buffer;
  readonly target: MountTarget | undefined;
}

async function holdTargets(view: MountPlan): Promise<HeldTarget[]> {
  let failure: unknown;
  const held = await mapInTurns(view.targets, CONCURRENT_TARGETS, async ({ path, kind }) => {
    // All of them settle, so that what is held can be let go.
    const target = await holdMountTarget(path, kind).catch((error: unknown) => {
      failure ??= error;
      return undefined;
    });
    return { path, target };
  });
  if (failure === undefined) return held;
  await releaseTargets(held);
  throw failure;
}

async function releaseTargets(held: readonly HeldTarget[]): Promise<void> {
  await mapInTurns(held, CONCURRENT_TARGETS, async ({ target }) => target?.release());
}

/** Leaves out mounts on targets that could not be made: where this user cannot make anything, no program of his can. */
function settle(view: MountPlan, targets: readonly HeldTarget[]): MountPlan {
  const missing = new Set(
    targets.filter(({ target }) => target === undefined).map(({ path }) => path.toString('latin1')),
  );
  return { ...view, mounts: view.mounts.filter(({ path }) => !missing.has(path.toString('latin1'))) };
}

interface Parts {
  readonly path: string;
  readonly architecture: Architecture;
  readonly policy: ResolvedPolicy;
  readonly plan: LaunchPlan;
  readonly view: MountPlan;
  readonly options: ConfineOptions;
  readonly targets: readonly HeldTarget[];
}

function assemble({ path, architecture, policy, plan, view, options, targets }: Parts): ConfinedLaunch {
  const descriptors = new LaunchDescriptors(plan.extraDescriptors);
  try {
    const entry = descriptors.openReport();
    const sockets: AllowedSockets = policy.network === 'enabled' ? 'any' : options.doorway ? 'inet' : 'unix';
    const filterFd = descriptors.addFile(buildSeccompFilter(architecture, sockets));
    const programFd = descriptors.addProgram(
      buildEntryProgram(architecture, {
        program: plan.program,
        argv: plan.argv,
        env: plan.env,
        cwd: plan.cwd,
        takesTerminal: plan.stdio.kind === 'pty',
        statusFd: entry.as,
        ownDescriptorsFrom: descriptors.first,
        handover: options.doorway && descriptors.addDoorway(options.doorway),
      }),
    );
    const words = [
      ...describeNamespaces(policy.network === 'enabled' ? 'shared' : 'own'),
      ...describeView(view, () => descriptors.addEmptyFile()),
      ...(options.readOnlyProc ? ['--remount-ro', '/proc'] : []),
      '--seccomp',
      String(filterFd),
      '--chdir',
      '/',
    ];
    const argumentsFd = descriptors.addFile(encodeArguments(words));
    const argv = ['bwrap', '--args', String(argumentsFd), '--', `/proc/self/fd/${programFd}`];
    refuseTooManyArguments(argv.length + words.length);
    return {
      plan: {
        program: path,
        argv,
        cwd: plan.cwd,
        // The program's own comes with it; bubblewrap needs none.
        env: new Map(),
        stdio: plan.stdio.kind === 'pty' ? { ...plan.stdio, leaveTerminal: true } : plan.stdio,
        extraDescriptors: [...plan.extraDescriptors, ...descriptors.added],
      },
      entry: entry.pipe,
      started: () => {
        entry.pipe.handOver();
        descriptors.closeFiles();
      },
      ended: async () => {
        entry.pipe.close();
        await releaseTargets(targets);
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

/** The descriptors that bubblewrap gets, numbered from behind those of the program. */
class LaunchDescriptors {
  readonly first: number;
  readonly added: { readonly fd: number; readonly as: number }[] = [];
  readonly #files: MemoryFile[] = [];
  #pipe: ReportPipe | undefined;
  #emptyFile: MemoryFile | undefined;
  #emptyFiles = 0;

  constructor(taken: LaunchPlan['extraDescriptors']) {
    this.first = Math.max(2, ...taken.map(({ as }) => as)) + 1;
  }

  openReport(): { readonly pipe: ReportPipe; readonly as: number } {
    this.#pipe = openReportPipe();
    return { pipe: this.#pipe, as: this.#add(this.#pipe.fd) };
  }

  addFile(contents: Buffer): number {
    return this.#add(this.#keep(createMemoryFile(contents)).fd);
  }

  addProgram(contents: Buffer): number {
    return this.#add(this.#keep(createMemoryFile(contents, { executable: true })).fd);
  }

  addDoorway({ sockets, door }: Doorway): SocketHandover {
    // Each socket takes the place of a descriptor, so that its number is known before there is a socket.
    const numbered = sockets.map((socket) => ({ ...socket, as: this.#add(door.fd) }));
    return { sockets: numbered, doorFd: this.#add(door.fd) };
  }

  /** The same file every time, under another number, because bubblewrap closes each when it has read it. */
  addEmptyFile(): number {
    if (++this.#emptyFiles > MAX_HIDDEN_FILES)
      throw unenforceable(`more than ${MAX_HIDDEN_FILES} files are denied one by one`);
    this.#emptyFile ??= this.#keep(createMemoryFile(Buffer.alloc(0)));
    return this.#add(this.#emptyFile.fd);
  }

  closeFiles(): void {
    for (const file of this.#files.splice(0)) file.close();
  }

  closeAll(): void {
    this.closeFiles();
    this.#pipe?.close();
  }

  #keep(file: MemoryFile): MemoryFile {
    this.#files.push(file);
    return file;
  }

  #add(fd: number): number {
    const as = this.first + this.added.length;
    this.added.push({ fd, as });
    return as;
  }
}

import type { DescriptorDoor } from '../native/descriptor-door.js';
import type { LaunchPlan } from '../native/launch.js';
import type { ReportPipe } from '../native/report-pipe.js';
import type { ResolvedPolicy } from './policy/policy.js';
import type { SocketRequest } from './program/enter.js';

/** What can confine a program here. */
export const BACKEND_NAMES = ['helper', 'bubblewrap', 'landlock'] as const;
export type BackendName = (typeof BACKEND_NAMES)[number];

/** What a server is told to confine programs with: one of them, the first that can, or nothing. */
export const BACKEND_CHOICES = ['auto', ...BACKEND_NAMES, 'none'] as const;
export type BackendChoice = (typeof BACKEND_CHOICES)[number];

/** Sockets of a sandbox's own network that this process is to get, in this order, and through what. */
export interface Doorway {
  readonly sockets: readonly SocketRequest[];
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
   * Lets the program write nothing in `/proc`, where it could change itself: for one that writes what others tell it.
   * @default false
   */
  readonly readOnlyProc?: boolean;
  /**
   * Lets nobody open the program's standard streams again by their names in `/proc`; what is open stays so.
   * @default false
   */
  readonly privateStreams?: boolean;
}

/** How a sandbox was tried, which is the only way to know whether it works. */
export type Trial =
  | { readonly works: true /** What was found, for people. */; readonly detail?: string }
  | {
      readonly works: false;
      readonly reason: string;
      /** The step that failed, where one did. */
      readonly step?: string;
      /** What the user can do about it. */
      readonly hint?: string;
    };

/** Whether a policy can be kept, and if not, what is in the way. */
export type Verdict = { readonly keeps: true } | { readonly keeps: false; readonly reason: string };

/**
 * Who waits for a program in its sandbox: two processes, outside and inside, that end as the program does, or with a code
 * of 128 + n for signal n; or nobody, where the launched process is the program.
 */
export type Keepers = 'exact' | 'coded' | 'none';

/** A launch inside of a sandbox, ready to be made, and what it holds. */
export interface ConfinedLaunch {
  readonly plan: LaunchPlan;
  readonly keepers: Keepers;
  /** What the sandbox program says, see `program/status.ts`. */
  readonly status: ReportPipe;
  /** Lets go of what only the start needs. Call it when the launch was made, or was not. */
  started(): void;
  /** Lets go of everything else. Call it when nothing of the sandbox is left. Never rejects. */
  ended(): Promise<void>;
}

/** One way to confine programs. */
export interface SandboxBackend {
  readonly name: BackendName;
  /** Whether a program sees only what its rules say; otherwise there are just a few policies that it can keep. */
  readonly makesViews: boolean;
  /** Makes a sandbox with everything that the system may refuse, and starts nothing in it. */
  probe(): Promise<Trial>;
  /** Whether it can keep a policy, as far as is known before it is tried. */
  canKeep(policy: ResolvedPolicy, options: ConfineOptions): Verdict;
  /**
   * Turns the launch of a program into the launch of the same program inside of a sandbox. Descriptors, terminal,
   * directory, arguments and environment stay what they are. Throws `PolicyError` when the policy cannot be kept, and
   * `OsError`.
   */
  assemble(policy: ResolvedPolicy, plan: LaunchPlan, options: ConfineOptions): Promise<ConfinedLaunch>;
}

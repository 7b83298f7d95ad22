import type { LaunchedProcess, Launcher, LaunchPlan } from '../../native/launch.js';
import { OsError } from '../../os-error.js';
import { killOneTree } from '../../terminate/kill-one-tree.js';
import { LaunchDescriptors } from '../launch-descriptors.js';
import { describeEntry } from './enter.js';
import { encodePlan, listWords, type Word } from './plan.js';
import { openProgram } from './program-file.js';
import { programArgv } from './run-program.js';
import { parseStatus } from './status.js';

/** What is done to a process before it becomes a program that is not confined, and that `posix_spawn` cannot do. */
export interface Preparation {
  /** Path of the `cgroup.procs` of a cgroup to join, threaded or not. @default none */
  readonly cgroup?: string;
  /** Who it becomes; only root can. @default the server's user */
  readonly user?: {
    readonly uid: number;
    readonly gid: number;
    /** Other groups that it is in. */
    readonly groups: readonly number[];
  };
  /** Whether it and its descendants get no privileges by executing something. @default false */
  readonly noNewPrivileges?: boolean;
}

/**
 * Starts a program as a launcher does, with preparations. What was launched becomes the program, so that its pid and its
 * end are the program's own. Throws `OsError` of what failed, as a launcher does, and `ProgramUnavailableError`.
 */
export async function launchPrepared(
  launcher: Launcher,
  plan: LaunchPlan,
  preparation: Preparation,
): Promise<LaunchedProcess> {
  const program = await openProgram();
  const descriptors = new LaunchDescriptors(plan.extraDescriptors);
  const status = descriptors.openStatus();
  try {
    const programFd = descriptors.add(program);
    const entry = describeEntry({ plan, ownDescriptorsFrom: descriptors.first });
    const planFd = descriptors.addFile(encodePlan([...describePreparation(preparation), ...entry]));
    const launched = launcher.launch({
      ...plan,
      program: `/proc/self/fd/${programFd}`,
      argv: programArgv(planFd, status.as),
      env: new Map(),
      extraDescriptors: [...plan.extraDescriptors, ...descriptors.added],
    });
    status.pipe.handOver();
    const { failure } = parseStatus(await status.pipe.report);
    if (failure === undefined) return launched;
    discard(launched);
    throw new OsError(failure.errno, failure.step);
  } finally {
    descriptors.closeAll();
  }
}

function describePreparation({ cgroup, user, noNewPrivileges = false }: Preparation): Word[] {
  return [
    ...(cgroup === undefined ? [] : ['cgroup', cgroup]),
    ...(user === undefined ? [] : ['user', user.uid, user.gid, ...listWords(user.groups)]),
    ...(noNewPrivileges ? ['no-new-privileges'] : []),
  ];
}

function discard(launched: LaunchedProcess): void {
  void killOneTree(launched, () => {
    for (const source of launched.outputs) source.destroy();
    launched.input?.close();
  });
}

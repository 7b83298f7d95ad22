import { constants } from 'node:fs';
import { loadLibc } from '../../native/libc.js';
import { createMemoryFile } from '../../native/memory-file.js';
import { reaper } from '../../native/reaper.js';
import { openReportPipe } from '../../native/report-pipe.js';
import { type SpawnRequest, spawnProcess } from '../../native/spawn.js';
import { encodePlan, type Word } from './plan.js';
import { openProgram } from './program-file.js';
import { type ProgramStatus, parseStatus } from './status.js';

const PLAN_FD = 3;
const STATUS_FD = 4;
const PROGRAM_FD = 5;

/**
 * Has the sandbox program carry out a plan that starts nothing, and tells what came of it. Throws `OsError` and
 * `ProgramUnavailableError`.
 */
export async function runProgram(words: readonly Word[]): Promise<ProgramStatus> {
  const program = await openProgram();
  const libc = loadLibc();
  const plan = createMemoryFile(encodePlan(words));
  const pipe = openReportPipe();
  try {
    const request: SpawnRequest = {
      program: `/proc/self/fd/${PROGRAM_FD}`,
      argv: programArgv(PLAN_FD, STATUS_FD),
      cwd: Buffer.from('/'),
      env: new Map(),
      stdio: [
        { kind: 'open', path: '/dev/null', flags: constants.O_RDWR, as: 0 },
        { kind: 'duplicate', fd: 0, as: 1 },
        { kind: 'duplicate', fd: 0, as: 2 },
      ],
      extraDescriptors: [
        { fd: plan.fd, as: PLAN_FD },
        { fd: pipe.fd, as: STATUS_FD },
        { fd: program, as: PROGRAM_FD },
      ],
    };
    await new Promise<void>((resolve) => {
      reaper.spawn(libc, () => spawnProcess(libc, request), { onExit: () => resolve(), keepsAlive: true });
      pipe.handOver();
    });
    return parseStatus(await pipe.report);
  } finally {
    pipe.close();
    plan.close();
  }
}

/** How the sandbox program is called. */
export function programArgv(planFd: number, statusFd: number): string[] {
  return ['exec-server-sandbox', String(planFd), String(statusFd)];
}

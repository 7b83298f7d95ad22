import { constants } from 'node:fs';
import { SIGKILL } from './constants.js';
import { DescriptorTarget } from './descriptor-target.js';
import { DescriptorScope } from './descriptors.js';
import { GUARDIAN_PROGRAM, type GuardianProcess, type GuardianWard, guardianArgv } from './guardian.js';
import type { ExitStatus } from './launch.js';
import type { Libc } from './libc.js';
import { openInputPipe } from './pipes.js';
import { reaper } from './reaper.js';
import { type SpawnRequest, spawnProcess } from './spawn.js';

/** Starts the guardian's shell with nothing of ours but the pipe. It does not keep the loop alive. */
export function startGuardian(libc: Libc, ward: GuardianWard): GuardianProcess {
  const scope = new DescriptorScope(libc);
  try {
    const ends = openInputPipe(libc, scope);
    let reportExit: (status: ExitStatus) => void = () => {};
    const exit = new Promise<ExitStatus>((resolve) => {
      reportExit = resolve;
    });
    const request: SpawnRequest = {
      program: GUARDIAN_PROGRAM,
      argv: guardianArgv(ward),
      cwd: Buffer.from('/'),
      env: new Map(),
      stdio: [
        { kind: 'duplicate', fd: ends.theirs, as: 0 },
        { kind: 'open', path: '/dev/null', flags: constants.O_WRONLY, as: 1 },
        { kind: 'duplicate', fd: 1, as: 2 },
      ],
      extraDescriptors: [],
    };
    let running = true;
    const onExit = (status: ExitStatus) => {
      running = false;
      reportExit(status);
    };
    const pid = reaper.spawn(libc, () => spawnProcess(libc, request), { onExit, keepsAlive: false });
    return {
      pid,
      input: new DescriptorTarget(libc, scope.release(ends.ours)),
      exit,
      kill: () => {
        if (running) libc.kill(pid, SIGKILL);
      },
    };
  } finally {
    scope.closeAll();
  }
}

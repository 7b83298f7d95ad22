import type { ListedProcess, ProcessListParams, ProcessListResult } from '@exec-server/protocol';
import type { ManagedProcess } from '../../process/managed-process.js';
import type { HandlerContext } from '../dialect.js';
import { describeOutcome } from './process-wait.js';

export function listProcesses(
  { tags = {}, scope = 'session' }: ProcessListParams,
  { engine, session }: HandlerContext,
): ProcessListResult {
  const visible = engine.registry.visibleTo(
    scope === 'all' ? { principal: session.principal } : { sessionId: session.id },
  );
  const wanted = Object.entries(tags);
  const processes = visible
    .filter(({ process }) => wanted.every(([name, value]) => process.description.tags[name] === value))
    .map(({ sessionId, process }) => describeProcess(sessionId, process))
    .sort((a, b) => a.startedAtMs - b.startedAtMs);
  return { processes };
}

/** What a process was started as and what became of it. */
export function describeProcess(sessionId: string, process: ManagedProcess): ListedProcess {
  const { argv, cwd, tty, tags, startedAtMs } = process.description;
  return {
    processId: process.id,
    sessionId,
    pid: process.programPid,
    argv: [...argv],
    cwd,
    tty,
    tags,
    startedAtMs,
    nextSeq: process.log.nextSeq,
    ...describeOutcome(process),
  };
}

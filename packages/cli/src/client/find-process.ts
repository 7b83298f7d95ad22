import type { ListedProcess } from '@exec-server/client';
import { CommandError } from '../command-error.js';
import { unknownProcessHint } from './explain-error.js';
import type { OpenMachine } from './with-machine.js';

/**
 * The process of that id, or the only one whose id begins so, whichever session of the same principal has started it. Of
 * several of one id the one that runs is meant, or else the newest; `session` chooses another one.
 */
export async function findProcess(
  { machine, url }: OpenMachine,
  id: string,
  session?: string,
): Promise<ListedProcess> {
  const candidates: ListedProcess[] = [];
  for await (const listed of machine.processes.list({ scope: 'all' })) {
    const isInSession = session === undefined || listed.sessionId === session;
    if (isInSession && listed.id.startsWith(id) && id !== '') candidates.push(listed);
  }
  const exact = preferRunning(candidates.filter((candidate) => candidate.id === id));
  const [found, second] = exact.length > 0 ? exact : candidates;
  if (found === undefined) throw new CommandError(`no process ${id}`, { hint: unknownProcessHint(url) });
  if (second === undefined) return found;
  const hint =
    exact.length > 0
      ? `Say which by --session: ${exact.map(({ sessionId }) => sessionId).join(', ')}`
      : `Give more of its id: ${candidates.map((candidate) => candidate.id).join(', ')}`;
  throw new CommandError(`several processes are meant by ${id}`, { hint });
}

function preferRunning(named: readonly ListedProcess[]): readonly ListedProcess[] {
  const running = named.filter(({ state }) => state === 'running');
  return running.length > 0 ? running : named.slice(-1);
}

import { formatRequestId, type RequestId } from '@exec-server/protocol';
import { LoopTurn } from '../loop-turn.js';

/** Elements of a list from which on a result is written in slices. */
const MANY_ELEMENTS = 512;

/** Characters that are as much work as an ordinary step. */
const CHARACTERS_PER_STEP = 2_048;

/** Whether a member of a result is a list of many. */
export function hasLongList(result: unknown): result is Readonly<Record<string, unknown>> {
  if (typeof result !== 'object' || result === null || Array.isArray(result)) return false;
  return Object.values(result).some((member) => Array.isArray(member) && member.length >= MANY_ELEMENTS);
}

/**
 * The response with a result that has long lists, as a line. It is what is written at once, but takes several turns of the
 * loop.
 */
export async function writeLargeResult(
  id: RequestId,
  result: Readonly<Record<string, unknown>>,
): Promise<Buffer> {
  const turn = new LoopTurn();
  const pieces: Buffer[] = [];
  let text = `{"id":${formatRequestId(id)},"result":{`;
  /** Whether others are to have their turn. */
  const add = (more: string): boolean => {
    text += more;
    return turn.isOverAfter(1 + more.length / CHARACTERS_PER_STEP);
  };
  const pause = () => {
    pieces.push(Buffer.from(text));
    text = '';
    return turn.pause();
  };
  let separator = '';
  for (const [name, member] of Object.entries(result)) {
    if (Array.isArray(member)) {
      add(`${separator}${JSON.stringify(name)}:[`);
      for (const [index, element] of member.entries())
        if (add(`${index === 0 ? '' : ','}${JSON.stringify(element) ?? 'null'}`)) await pause();
      add(']');
    } else {
      const value = JSON.stringify(member);
      if (value === undefined) continue;
      if (add(`${separator}${JSON.stringify(name)}:${value}`)) await pause();
    }
    separator = ',';
  }
  pieces.push(Buffer.from(`${text}}}\n`));
  return Buffer.concat(pieces);
}

import { compareValues } from '../matching.js';
import { FILE_ACTS } from './files.js';
import type { NoteContext } from './note.js';
import { PROCESS_ACTS } from './processes.js';
import { TRANSPORT_ACTS } from './transport.js';

const ACTS = [...FILE_ACTS, ...PROCESS_ACTS, ...TRANSPORT_ACTS];

/** Does again what a note tells of; gives what differed. A note that nobody knows fails, so that none is passed over. */
export async function replayNote(text: string, context: NoteContext): Promise<string[]> {
  for (const [pattern, act] of ACTS) {
    const note = pattern.exec(text);
    if (note === null) continue;
    const actual = await act(context, note);
    return actual === undefined ? [] : compareValues(text, actual, context.bindings, 'note');
  }
  return [`nobody knows what to do about the note ${JSON.stringify(text)}`];
}

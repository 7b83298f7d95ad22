import { Inbox, type WireMessage } from '@exec-server/testing';
import { expect, it } from 'vitest';
import { DeltaBook, isOutputDelta, subjectOf } from './output-deltas.js';
import { Bindings } from './placeholders.js';

function delta(processId: string, text: string, changes: object = {}): WireMessage {
  const params = { processId, stream: 'stdout', deltaBase64: btoa(text), capReached: false, ...changes };
  return { method: 'command/exec/outputDelta', params };
}

/** A book with what was recorded, and what has arrived. */
async function open(recorded: readonly WireMessage[], received: readonly WireMessage[]) {
  const inbox = new Inbox();
  for (const message of received) inbox.deliver(message);
  const book = new DeltaBook(new Bindings());
  for (const message of recorded) await book.receive(inbox, message);
  return { book, inbox };
}

it('output is the same however it is cut', async () => {
  const { book, inbox } = await open(
    [delta('a', 'on'), delta('a', 'e')],
    [delta('a', 'o'), delta('a', 'ne')],
  );
  expect(book.compareAll(inbox)).toEqual([]);
});

it('waits for as much as was recorded', async () => {
  const inbox = new Inbox();
  const book = new DeltaBook(new Bindings());
  const covered = book.receive(inbox, delta('a', 'one'));
  inbox.deliver(delta('a', 'on'));
  inbox.deliver(delta('b', 'another process'));
  inbox.deliver(delta('a', 'e'));
  await covered;
  expect(book.compareAll(inbox)).toEqual(['process "b", stdout: expected nothing, got "another process"']);
});

it.each<[string, WireMessage, string]>([
  ['content', delta('a', 'two'), 'process "a", stdout: expected "one", got "two"'],
  ['length', delta('a', 'one and more'), 'process "a", stdout: expected "one", got "one and more"'],
  [
    'cap',
    delta('a', 'one', { capReached: true }),
    'process "a", stdout: expected "one", got "one" up to its cap',
  ],
])('tells of another %s', async (_, received, difference) => {
  const { book, inbox } = await open([delta('a', 'one')], [received]);
  expect(book.compareAll(inbox)).toEqual([difference]);
});

it('output that comes behind the end is missed', async () => {
  const end: WireMessage = { id: 1, result: {} };
  const { book, inbox } = await open([delta('a', 'one')], [delta('a', 'on'), end, delta('a', 'e')]);
  expect(book.compareBefore(inbox, end, 'process "a"')).toEqual([
    'process "a", stdout: expected "one", got "on"',
  ]);
});

it('knows processes by the names that their dialects have for them', () => {
  expect(subjectOf({ method: 'process/outputDelta', params: { processHandle: 'h' } })).toBe('handle "h"');
  expect(subjectOf(delta('a', ''))).toBe('process "a"');
  expect(subjectOf({ method: 'fs/changed', params: { watchId: 'w' } })).toBeUndefined();
  expect(isOutputDelta({ method: 'process/output', params: { processId: 'a' } })).toBe(false);
});

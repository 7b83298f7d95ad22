import { expect, test } from 'vitest';
import { Inbox } from '../src/inbox.js';

const named = (name: string) => (message: { method?: string }) => message.method === name;

test('a message is handed out once, to the first who fits', async () => {
  const inbox = new Inbox();
  const first = inbox.next(named('a'), 'a');
  const second = inbox.next(named('a'), 'another a');
  inbox.deliver({ method: 'b' });
  inbox.deliver({ method: 'a', params: { n: 1 } });
  inbox.deliver({ method: 'a', params: { n: 2 } });
  expect((await first).params).toEqual({ n: 1 });
  expect((await second).params).toEqual({ n: 2 });
  expect(inbox.unread).toEqual([{ method: 'b' }]);
});

test('messages that came earlier are found, and others stay in order', async () => {
  const inbox = new Inbox();
  for (const method of ['a', 'b', 'c']) inbox.deliver({ method });
  expect(await inbox.next(named('b'), 'b')).toEqual({ method: 'b' });
  expect(inbox.unread).toEqual([{ method: 'a' }, { method: 'c' }]);
  expect(inbox.takeUnread(named('c'))).toEqual([{ method: 'c' }]);
  expect(inbox.unread).toEqual([{ method: 'a' }]);
});

test('a wait that fails names what it waited for and lists what came', async () => {
  const inbox = new Inbox();
  inbox.deliver({ method: 'something/else' });
  await expect(inbox.next(named('a'), 'the answer', 1)).rejects.toThrow(
    /waited for the answer, but the deadline passed; received 1.*\n.*something\/else/,
  );
  inbox.deliver({ method: 'a' });
  expect(inbox.unread).toHaveLength(2);
});

test('the end is told to those who wait and to those who come after', async () => {
  const inbox = new Inbox();
  const waiting = inbox.next(named('a'), 'a');
  inbox.end('the line is cut');
  await expect(waiting).rejects.toThrow(/the line is cut; nothing was received/);
  await expect(inbox.next(named('a'), 'a')).rejects.toThrow(/the line is cut/);
});

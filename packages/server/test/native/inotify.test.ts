import { mkdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Inotify, type InotifyEvent, InotifyMask } from '../../src/native/inotify.js';
import { makeTempDirectory } from '../support/temp-directory.js';

const ALL =
  InotifyMask.create |
  InotifyMask.delete |
  InotifyMask.movedFrom |
  InotifyMask.movedTo |
  InotifyMask.attributes |
  InotifyMask.deleteSelf;

function openInotify() {
  const events: InotifyEvent[] = [];
  let onNews = () => {};
  const inotify = new Inotify((event) => {
    events.push(event);
    onNews();
  });
  onTestFinished(() => inotify.close());
  return {
    inotify,
    events,
    until: async (isLast: (event: InotifyEvent) => boolean): Promise<void> => {
      while (!events.some(isLast)) await new Promise<void>((resolve) => (onNews = resolve));
    },
  };
}

describe('events', () => {
  it('carry the watch, what happened and the bytes of the name', async () => {
    const directory = await makeTempDirectory();
    const { inotify, events, until } = openInotify();
    const watch = inotify.add(Buffer.from(directory), ALL);
    mkdirSync(join(directory, 'd'));
    const odd = Buffer.concat([Buffer.from(`${directory}/`), Buffer.from([0xff, 0xfe])]);
    writeFileSync(odd, '');
    renameSync(odd, join(directory, 'x'.repeat(255)));
    await until(({ mask }) => (mask & InotifyMask.movedTo) !== 0);
    expect(events).toEqual([
      { watch, mask: InotifyMask.create | InotifyMask.isDirectory, name: 'd' },
      { watch, mask: InotifyMask.create, name: '\xff\xfe' },
      { watch, mask: InotifyMask.movedFrom, name: '\xff\xfe' },
      { watch, mask: InotifyMask.movedTo, name: 'x'.repeat(255) },
    ]);
  });

  it('of a directory itself have no name, and its end ends the watch', async () => {
    const directory = join(await makeTempDirectory(), 'd');
    mkdirSync(directory);
    const { inotify, events, until } = openInotify();
    const watch = inotify.add(Buffer.from(directory), ALL);
    rmSync(directory, { recursive: true });
    await until(({ mask }) => (mask & InotifyMask.ignored) !== 0);
    expect(events.at(-2)).toEqual({ watch, mask: InotifyMask.deleteSelf, name: '' });
    inotify.remove(watch);
  });

  it('beyond the queue are lost, and the queue says so', async () => {
    const directory = await makeTempDirectory();
    const limit = Number(readFileSync('/proc/sys/fs/inotify/max_queued_events', 'utf8'));
    writeFileSync(join(directory, 'a'), '');
    writeFileSync(join(directory, 'b'), '');
    const { inotify, events, until } = openInotify();
    inotify.add(Buffer.from(directory), InotifyMask.attributes);
    for (let event = 0; event <= limit; event++)
      utimesSync(join(directory, event % 2 === 0 ? 'a' : 'b'), 1, 1);
    await until(({ mask }) => (mask & InotifyMask.queueOverflow) !== 0);
    expect(events).toHaveLength(limit + 1);
    expect(events.at(-1)).toEqual({ watch: -1, mask: InotifyMask.queueOverflow, name: '' });
  });
});

it('the same directory has the same number, another has another', async () => {
  const directory = await makeTempDirectory();
  mkdirSync(join(directory, 'd'));
  const { inotify } = openInotify();
  const watch = inotify.add(Buffer.from(directory), ALL);
  expect(inotify.add(Buffer.from(`${directory}/d/..`), ALL)).toBe(watch);
  expect(inotify.add(Buffer.from(`${directory}/d`), ALL)).not.toBe(watch);
});

it('what cannot be watched is an error with its number', async () => {
  const directory = await makeTempDirectory();
  writeFileSync(join(directory, 'f'), '');
  const { inotify } = openInotify();
  const errnoOf = (path: string | Uint8Array) => {
    try {
      return inotify.add(Buffer.from(path), ALL | InotifyMask.onlyDirectory);
    } catch (error) {
      return (error as { errno: number }).errno;
    }
  };
  expect(errnoOf(join(directory, 'none'))).toBe(2);
  expect(errnoOf(join(directory, 'f'))).toBe(20);
  expect(errnoOf('/tmp\0')).toBe(22);
  inotify.close();
  expect(errnoOf(directory)).toBe(9);
});

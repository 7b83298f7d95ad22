import { expect, it } from 'vitest';
import { DirectoryHub } from '../../../src/fs/watch/directory-hub.js';
import type { DirectorySource } from '../../../src/fs/watch/directory-source.js';

const listener = { onEntry() {}, onLost() {} };

function openHub() {
  const sources: { open: number; closed: boolean; overflow: () => void }[] = [];
  const hub = new DirectoryHub(undefined, (onOverflow): DirectorySource => {
    const state = { open: 0, closed: false, overflow: onOverflow };
    sources.push(state);
    return {
      watch(directory) {
        if (directory === '/refused') throw new Error('refused');
        state.open++;
        return { close: () => void state.open-- };
      },
      close() {
        state.closed = true;
      },
    };
  });
  return { hub, sources };
}

it('has a source only while something is watched', () => {
  const { hub, sources } = openHub();
  expect(sources).toHaveLength(0);
  const first = hub.watch('/a', 'names', listener);
  const second = hub.watch('/b', 'names', listener);
  expect(sources).toMatchObject([{ open: 2, closed: false }]);
  first.close();
  first.close();
  expect(sources).toMatchObject([{ open: 1, closed: false }]);
  second.close();
  expect(sources).toMatchObject([{ open: 0, closed: true }]);
  hub.watch('/a', 'names', listener);
  expect(sources).toHaveLength(2);
});

it('a watch that is refused leaves no source behind', () => {
  const { hub, sources } = openHub();
  expect(() => hub.watch('/refused', 'names', listener)).toThrow('refused');
  expect(sources).toMatchObject([{ closed: true }]);
});

it('tells everybody of an overflow who still listens', () => {
  const { hub, sources } = openHub();
  const told: string[] = [];
  const first = hub.onOverflow(() => told.push('first'));
  hub.onOverflow(() => told.push('second'));
  hub.watch('/a', 'names', listener);
  sources[0]?.overflow();
  first.close();
  sources[0]?.overflow();
  expect(told).toEqual(['first', 'second', 'second']);
});

it('watches nothing once it is closed', () => {
  const { hub, sources } = openHub();
  const watch = hub.watch('/a', 'names', listener);
  hub.close();
  expect(sources).toMatchObject([{ closed: true }]);
  watch.close();
  expect(() => hub.watch('/a', 'names', listener)).toThrow('the connection is gone');
});

import { expect, it } from 'vitest';
import { decodeParams, FsChangedNotification, FsUnwatchParams, FsWatchParams } from '../../src/index.js';
import { problemOf } from './problem-of.js';

const path = 'file:///tmp/f';

it('decodes a watch by name and by position', () => {
  expect(decodeParams(FsWatchParams, { watchId: 'w', path })).toEqual({ watchId: 'w', path });
  expect(decodeParams(FsWatchParams, { watchId: 'w', path, recursive: null })).toEqual({
    watchId: 'w',
    path,
  });
  expect(decodeParams(FsWatchParams, ['w', path, true])).toEqual({ watchId: 'w', path, recursive: true });
  expect(decodeParams(FsUnwatchParams, ['w'])).toEqual({ watchId: 'w' });
});

it.each([
  [{ path }, 'missing field `watchId`'],
  [{ watchId: 'w' }, 'missing field `path`'],
  [{ watchId: 1, path }, 'invalid type: number, expected a string'],
  [{ watchId: 'w', path: '/tmp/f' }, 'invalid URI: relative URL without a base'],
  [{ watchId: 'w', path, recursive: 'yes' }, 'invalid type: string "yes", expected a boolean'],
])('refuses %j', (params, problem) => {
  expect(problemOf(FsWatchParams, params)).toBe(problem);
});

it('knows four kinds of changes', () => {
  for (const kind of ['created', 'modified', 'removed', 'overflow']) {
    const notification = { watchId: 'w', changes: [{ path, kind }] };
    expect(decodeParams(FsChangedNotification, notification)).toEqual(notification);
  }
  expect(problemOf(FsChangedNotification, { watchId: 'w', changes: [{ path, kind: 'moved' }] })).toContain(
    'unknown variant `moved`',
  );
});

import {
  appendFileSync,
  chmodSync,
  closeSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { MAX_WATCHED_PATHS, nativeToPathUri } from '@exec-server/protocol';
import { describe, expect, it } from 'vitest';
import { openServer, openSession } from '../../support/session.js';
import { makeTempDirectory } from '../../support/temp-directory.js';

interface Names {
  readonly missing?: readonly string[];
  readonly present?: string;
}

async function openWatcher() {
  const directory = await makeTempDirectory();
  const wire = await openSession(openServer());
  const uri = (name: string) => (name.startsWith('file:') ? name : nativeToPathUri(join(directory, name)));
  const changed = () => wire.received.filter(({ method }) => method === 'fs/missingChanged');
  return {
    wire,
    directory,
    changed,
    watch: async (watchId: number, { missing = ['x'], present }: Names = {}) => {
      const params = { watchId, missing: missing.map(uri), present: present && uri(present) };
      const { result, error } = await wire.request('fs/watchMissing', params);
      return error ?? result;
    },
    untilChanged: (watchId: number) =>
      wire.next(
        ({ method, params }) => method === 'fs/missingChanged' && params?.watchId === watchId,
        `fs/missingChanged of ${watchId}`,
      ),
  };
}

const set = { watching: true };
const unset = { watching: false };

type Act = (directory: string) => void;
const write =
  (name: string, text = 'x'): Act =>
  (directory) =>
    writeFileSync(join(directory, name), text);
const make =
  (name: string): Act =>
  (directory) =>
    void mkdirSync(join(directory, name), { recursive: true });
const remove =
  (name: string): Act =>
  (directory) =>
    rmSync(join(directory, name), { recursive: true });
const move =
  (from: string, to: string): Act =>
  (directory) =>
    renameSync(join(directory, from), join(directory, to));
const link =
  (target: string, name: string): Act =>
  (directory) =>
    symlinkSync(target, join(directory, name));
const all =
  (...acts: Act[]): Act =>
  (directory) => {
    for (const act of acts) act(directory);
  };
const chmod =
  (name: string): Act =>
  (directory) =>
    chmodSync(join(directory, name), 0o700);
const nothing: Act = () => {};

describe('fires once when', () => {
  it.each<[string, Act, Names, Act]>([
    ['a file appears', nothing, {}, write('x')],
    ['a directory appears', nothing, {}, make('x')],
    ['a broken link appears', nothing, {}, link('nowhere', 'x')],
    ['a file appears and goes', nothing, {}, all(write('x'), remove('x'))],
    ['a file is renamed to the path', write('y'), {}, move('y', 'x')],
    ['the last of 64 appears', nothing, { missing: manyNames(MAX_WATCHED_PATHS) }, write('m63')],
    ['a missing ancestor appears', nothing, { missing: ['a/b/x'] }, make('a')],
    ['a missing ancestor appears as a file', nothing, { missing: ['a/b/x'] }, write('a')],
    ['the parent is removed', make('p'), { missing: ['p/x'] }, remove('p')],
    ['the parent is renamed', make('p'), { missing: ['p/x'] }, move('p', 'q')],
    ['a grandparent is renamed', make('g/p'), { missing: ['g/p/x'] }, move('g', 'h')],
    ['a grandparent is replaced', make('g/p'), { missing: ['g/p/x'] }, all(move('g', 'h'), make('g'))],
    ['the parent changes its mode', make('p'), { missing: ['p/x'] }, chmod('p')],
    ['the present file is written', write('f'), { present: 'f' }, write('f', 'new')],
    [
      'the present file is appended to',
      write('f'),
      { present: 'f' },
      (directory) => appendFileSync(join(directory, 'f'), '.'),
    ],
    [
      'the present file is touched',
      write('f'),
      { present: 'f' },
      (directory) => utimesSync(join(directory, 'f'), 1, 1),
    ],
    ['the present file changes its mode', write('f'), { present: 'f' }, chmod('f')],
    ['the present file is replaced', all(write('f'), write('g')), { present: 'f' }, move('g', 'f')],
    ['the present file is removed', write('f'), { present: 'f' }, remove('f')],
    ['the present file is renamed', write('f'), { present: 'f' }, move('f', 'g')],
    [
      "the present file's directory is renamed",
      all(make('o'), write('o/f')),
      { present: 'o/f' },
      move('o', 'p'),
    ],
    ['the present directory changes its mode', make('o'), { present: 'o' }, chmod('o')],
  ])('%s', async (_name, prepare, names, act) => {
    const { directory, watch, untilChanged, changed } = await openWatcher();
    prepare(directory);
    expect(await watch(7, names)).toEqual(set);
    act(directory);
    await untilChanged(7);
    // A second watch of the same connection fires after all that the first could still say.
    make('later')(directory);
    expect(await watch(8, { missing: ['later/x'] })).toEqual(set);
    all(remove('later'))(directory);
    await untilChanged(8);
    expect(changed().map(({ params }) => params)).toEqual([{ watchId: 7 }, { watchId: 8 }]);
  });
});

describe('does not fire when', () => {
  it.each<[string, Act, Names, Act]>([
    ['a sibling appears and goes', nothing, {}, all(write('y'), remove('y'))],
    ['the same name appears elsewhere', make('p'), {}, write('p/x')],
    [
      'something happens beside an ancestor',
      make('g/p'),
      { missing: ['g/p/x'] },
      all(write('g/q'), make('g/r')),
    ],
    [
      'the present file is read, linked, or opened for writing and closed',
      write('f'),
      { present: 'f' },
      (directory) => {
        readFileSync(join(directory, 'f'));
        linkSync(join(directory, 'f'), join(directory, 'f2'));
        closeSync(openSync(join(directory, 'f'), 'r+'));
      },
    ],
    [
      'something happens in the present directory',
      all(make('o'), write('o/f')),
      { present: 'o' },
      write('o/g'),
    ],
  ])('%s', async (_name, prepare, names, act) => {
    const { directory, watch, untilChanged, changed } = await openWatcher();
    prepare(directory);
    expect(await watch(1, names)).toEqual(set);
    act(directory);
    // What comes later in the same queue shows that nothing came before it.
    const [first = 'x'] = names.missing ?? ['x'];
    write(first)(directory);
    await untilChanged(1);
    expect(changed()).toHaveLength(1);
  });

  it('the connection is gone', async () => {
    const { directory, watch, wire, changed } = await openWatcher();
    await watch(1);
    await wire.close();
    write('x')(directory);
    expect(changed()).toEqual([]);
  });
});

describe('is not set for', () => {
  it.each<[string, Act, Names]>([
    ['no path', nothing, { missing: [] }],
    ['no path but a present file', write('f'), { missing: [], present: 'f' }],
    ['65 paths', nothing, { missing: manyNames(MAX_WATCHED_PATHS + 1) }],
    ['65 times the same path', nothing, { missing: Array(MAX_WATCHED_PATHS + 1).fill('x') as string[] }],
    ['a file that exists', write('x'), {}],
    ['a directory that exists', make('x'), {}],
    ['a broken link', link('nowhere', 'x'), {}],
    ['one path of several that exists', write('y'), { missing: ['x', 'y'] }],
    ['a path below a file', write('f'), { missing: ['f/x'] }],
    ['a path that leads through a link', all(make('d'), link('d', 'p')), { missing: ['p/x'] }],
    ['a path through a loop', link('p', 'p'), { missing: ['p/x'] }],
    ['a path of another kind of host', nothing, { missing: ['x', 'file://host/x'] }],
    ['a path of a file system that does not tell', nothing, { missing: ['file:///proc/none'] }],
    ['the root', nothing, { missing: ['file:///'] }],
    ['a present file that does not exist', nothing, { present: 'f' }],
    ['a present file below a file', write('f'), { present: 'f/x' }],
    ['a present link', all(write('f'), link('f', 'l')), { present: 'l' }],
    ['a present path of another kind of host', nothing, { present: 'file://host/x' }],
    ['a present file that is to be missing', write('f'), { missing: ['f'], present: 'f' }],
  ])('%s', async (_name, prepare, names) => {
    const { directory, watch } = await openWatcher();
    prepare(directory);
    expect(await watch(1, names)).toEqual(unset);
  });
});

describe('ids', () => {
  it('must grow; others are refused and leave the watch alone', async () => {
    const { directory, watch, untilChanged, changed } = await openWatcher();
    expect(await watch(0)).toEqual(unset);
    expect(await watch(10, { missing: ['x'] })).toEqual(set);
    for (const id of [10, 9]) expect(await watch(id, { missing: ['y'] })).toEqual(unset);
    all(write('y'), write('x'))(directory);
    await untilChanged(10);
    expect(changed()).toHaveLength(1);
    expect(await watch(10, { missing: ['z'] })).toEqual(unset);
    expect(await watch(11, { missing: ['z'] })).toEqual(set);
  });

  it('a greater one replaces the watch, also when it is not set itself', async () => {
    const { directory, watch, untilChanged, changed } = await openWatcher();
    write('here')(directory);
    expect(await watch(1, { missing: ['x'] })).toEqual(set);
    expect(await watch(2, { missing: ['here'] })).toEqual(unset);
    expect(await watch(2, { missing: ['y'] })).toEqual(unset);
    expect(await watch(3, { missing: ['y'] })).toEqual(set);
    all(write('x'), write('y'))(directory);
    await untilChanged(3);
    expect(changed()).toHaveLength(1);
  });

  it('are per connection', async () => {
    const directory = await makeTempDirectory();
    const server = openServer();
    const missing = [nativeToPathUri(join(directory, 'x'))];
    for (const wire of [await openSession(server), await openSession(server)]) {
      expect((await wire.request('fs/watchMissing', { watchId: 1, missing })).result).toEqual(set);
    }
  });
});

function manyNames(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `m${index}`);
}

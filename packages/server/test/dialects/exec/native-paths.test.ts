import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nativeToPathUri } from '@exec-server/protocol';
import { describe, expect, it } from 'vitest';
import { acceptNativePaths } from '../../../src/dialects/exec/native-paths.js';
import { openServer, openSession, startParams, untilClosed } from '../../support/session.js';

const directory = () => mkdtempSync(join(tmpdir(), 'native %20 ü '));
const dataBase64 = Buffer.from('content').toString('base64');

describe('with native paths accepted', () => {
  it('files are read and written by both kinds of names', async () => {
    const wire = await openSession(openServer({ acceptNativePaths: true }));
    const root = directory();
    const [source, copy] = [join(root, 'source'), join(root, 'copy')];
    await wire.request('fs/writeFile', { path: source, dataBase64 });
    const copied = await wire.request('fs/copy', {
      sourcePath: source,
      destinationPath: nativeToPathUri(copy),
      recursive: false,
    });
    expect(copied.error).toBeUndefined();
    expect(readFileSync(copy, 'utf8')).toBe('content');
    expect((await wire.request('fs/readFile', { path: copy })).result).toMatchObject({ dataBase64 });
  });

  it('a program runs in a directory that is named so', async () => {
    const wire = await openSession(openServer({ acceptNativePaths: true }));
    const cwd = directory();
    await wire.request('process/start', startParams('p', ['/bin/pwd'], { cwd }));
    expect((await untilClosed(wire, 'p')).stdout.toString()).toBe(`${cwd}\n`);
  });

  it('relative ones are refused as ever', async () => {
    const wire = await openSession(openServer({ acceptNativePaths: true }));
    expect((await wire.request('fs/readFile', { path: 'relative' })).error).toMatchObject({
      code: -32602,
      message: 'invalid URI: relative URL without a base',
    });
  });
});

it('without, native paths are refused', async () => {
  const wire = await openSession(openServer());
  const refusal = { code: -32602, message: 'invalid URI: relative URL without a base' };
  expect((await wire.request('fs/readFile', { path: '/etc/hostname' })).error).toMatchObject(refusal);
  const start = await wire.request('process/start', startParams('p', ['true'], { cwd: '/tmp' }));
  expect(start.error).toMatchObject(refusal);
});

it.each([
  [
    { path: '/a b', other: '/a' },
    { path: 'file:///a%20b', other: '/a' },
  ],
  [
    { missing: ['/a', 'file:///b'], present: '/c' },
    { missing: ['file:///a', 'file:///b'], present: 'file:///c' },
  ],
  [{ path: 5 }, { path: 5 }],
  [['/a'], ['/a']],
  [null, null],
])('%o becomes %o', (params, adapted) => {
  expect(acceptNativePaths(params)).toEqual(adapted);
});

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { makeDirectoryOutsideTemp, requireProgram } from '@exec-server/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Sandbox, toConfinement } from '../src/sandbox.js';
import { openMachine } from './support/machine.js';

/** A directory outside of the temporary ones, which every workspace may write. */
async function makePlace(): Promise<string> {
  const { path: place, remove } = makeDirectoryOutsideTemp();
  onTestFinished(remove);
  for (const name of ['work', 'other']) {
    await mkdir(join(place, name));
    await writeFile(join(place, name, 'secret'), 'secret');
  }
  return place;
}

/** What becomes of writing and reading here and there. */
const PROBE = `for d in work other; do
  ( : > ../$d/new ) 2>/dev/null && echo "$d written"
  ( cat ../$d/secret ) >/dev/null 2>&1 && echo "$d read"
done; true`;

describe('a sandbox', () => {
  it.each<[string, Sandbox, string[]]>([
    ['read-only', 'read-only', ['work read', 'other read']],
    ['workspace-write', 'workspace-write', ['work written', 'work read', 'other read']],
    ['rules for writing', { write: ['../other'] }, ['work read', 'other written', 'other read']],
    ['rules for denying', { write: ['.'], deny: ['../other'] }, ['work written', 'work read']],
    ['patterns', { deny: ['**/secret'] }, ['other read']],
    ['rules for reading', { read: ['.'] }, ['work read']],
    [
      'rules on top of a name',
      { base: 'workspace-write', deny: ['../other'] },
      ['work written', 'work read'],
    ],
  ])('%s', async (_, sandbox, expected) => {
    const place = await makePlace();
    const machine = await openMachine();
    const { stdout, stderr } = await machine.run(['/bin/sh', '-c', PROBE], {
      cwd: join(place, 'work'),
      sandbox,
    });
    expect([stdout.lines(), stderr.text()]).toEqual([expected, '']);
  });

  it('of a machine holds for its files, too', async () => {
    const place = await makePlace();
    const machine = await openMachine();
    const confined = machine.with({ cwd: join(place, 'work'), sandbox: 'workspace-write' });
    await confined.fs.writeFile(join(place, 'work/new'), 'x');
    expect(await readFile(join(place, 'work/new'), 'utf8')).toBe('x');
    await expect(confined.fs.writeFile(join(place, 'other/new'), 'x')).rejects.toMatchObject({
      code: 'rejected',
    });
    await machine.fs.writeFile(join(place, 'other/new'), 'x');
  });

  it('reaches the hosts that are allowed, and no other', async (test) => {
    requireProgram('curl', test);
    const server = createServer((_, response) => response.end('hello')).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    const machine = await openMachine();
    const fetch = async (network: 'off' | 'on' | { allow: string[] }) =>
      (
        await machine.sh(`curl -s -m 10 http://127.0.0.1:${port}/ || true`, { sandbox: { network } })
      ).stdout.text();
    expect(await fetch('off')).toBe('');
    expect(await fetch('on')).toBe('hello');
    expect(await fetch({ allow: ['127.0.0.1'] })).toBe('hello');
    expect(await fetch({ allow: ['example.com'] })).not.toContain('hello');
  });

  it.each<[unknown, RegExp]>([
    ['everything', /sandbox/],
    [7, /sandbox/],
    [{ writes: [] }, /writes/],
    [{ network: 'maybe' }, /sandbox.network/],
    [{ base: 'everything' }, /sandbox.base/],
    [{ network: { deny: [] } }, /deny/],
    [{ write: ['*.txt'] }, /pattern/],
  ])('that makes no sense is refused: %o', (sandbox, message) => {
    expect(() => toConfinement(sandbox as Sandbox, 'file:///srv')).toThrow(message);
  });
});

describe('a machine with defaults', () => {
  it('adds variables and tags, and is told otherwise by each call', async () => {
    const machine = await openMachine();
    const first = machine.with({ cwd: '/usr', env: { A: '1', B: '1' }, tags: { a: '1' } });
    const second = first.with({ env: { B: '2' }, tags: { b: '2' }, timeoutMs: 60_000 });
    expect((await second.sh('pwd; echo $A$B$C', { env: { C: '3' } })).stdout.lines()).toEqual([
      '/usr',
      '123',
    ]);
    expect((await second.shell({ cwd: '/' })`pwd`).stdout.trimmed()).toBe('/');
    expect((await first.run(['sh', '-c', 'echo $A$B'])).stdout.trimmed()).toBe('11');
    await using handle = await second.spawn(['sleep', '60'], { id: 'p', tags: { c: '3' } });
    expect((await second.processes.get('p')).tags).toEqual({ a: '1', b: '2', c: '3' });
    expect(handle.id).toBe('p');
    expect((await machine.run(['sh', '-c', 'echo $A'])).stdout.trimmed()).toBe('');
    expect(() => machine.with({ check: true } as object)).toThrow(expect.objectContaining({ code: 'usage' }));
  });
});

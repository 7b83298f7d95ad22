import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { nativeToPathUri, type SandboxContext } from '@exec-server/protocol';
import { describe, expect, it, onTestFinished } from 'vitest';
import { hideFromWatches } from '../../../../src/dialects/exec/confined/hide-from-watches.js';
import { hideSocket } from '../../../../src/sandbox/hidden-sockets.js';
import { READ_ROOT, resolveNow, sandboxOf, special } from '../../../support/sandbox.js';
import { openWatching, Watched } from '../../../support/watched.js';

const NOT_FOUND = -32004;
const WRITE_ROOT = sandboxOf([special({ kind: 'root' }, 'write')]);

async function openConfined() {
  const { wire, directory, at } = await openWatching();
  mkdirSync(at('hidden/below'), { recursive: true });
  mkdirSync(at('shown'));
  onTestFinished(hideSocket(at('hidden'), 'directory'));
  const watch = (path: string, watchId = 'w', sandbox: SandboxContext = sandboxOf([READ_ROOT])) =>
    wire.request('fs/watch', { watchId, path: nativeToPathUri(path), recursive: true, sandbox });
  return { at, watch, directory, watched: new Watched(wire, 'w', directory) };
}

it.each<[string, SandboxContext, string[]]>([
  ['everything to read', sandboxOf([READ_ROOT]), ['/proc', '/proc/1', '/dev', '/dev/shm/x', '/run/user/x']],
  ['everything to write', WRITE_ROOT, ['/proc', '/proc/1', '/dev', '/run/user/x']],
])('%s: what a sandbox has of its own, and services', async (_name, sandbox, expected) => {
  const { files } = resolveNow(sandbox, { temporaryDirectories: [] });
  onTestFinished(hideSocket('/run/user/x', 'directory'));
  const isHidden = await hideFromWatches(files);
  const paths = [
    '/',
    '/proc',
    '/proc/1',
    '/procs',
    '/dev',
    '/dev/shm/x',
    '/run/user/x',
    '/run/user/xy',
    '/x',
  ];
  expect(paths.filter((path) => isHidden(path))).toEqual(expected);
});

describe('a watch in a context that lets everything be read', () => {
  it('does not find what is hidden, by its name or through links', async () => {
    const { at, watch } = await openConfined();
    symlinkSync('hidden/below', at('link'));
    symlinkSync('/proc/self', at('self'));
    const paths = [
      at('hidden'),
      at('hidden/below'),
      at('link'),
      '/proc',
      `/proc/${process.pid}`,
      at('self/fd'),
    ];
    for (const path of paths) expect([path, (await watch(path)).error?.code]).toEqual([path, NOT_FOUND]);
  });

  it('tells of what is beside, and nothing of what is hidden', async () => {
    const { at, watch, directory, watched } = await openConfined();
    expect((await watch(directory)).error).toBeUndefined();
    writeFileSync(at('hidden/below/file'), '');
    renameSync(at('hidden/below'), at('hidden/other'));
    writeFileSync(at('shown/file'), '');
    await watched.until('shown/file', 'created');
    expect(watched.story.filter((change) => change.includes('hidden'))).toEqual([]);
  });

  it('goes on to see nothing when a link comes to lead there', async () => {
    const { at, watch, watched } = await openConfined();
    symlinkSync('shown', at('link'));
    expect((await watch(at('link'))).error).toBeUndefined();
    symlinkSync('hidden/below', at('new'));
    renameSync(at('new'), at('link'));
    await watched.until('link', 'removed');
    writeFileSync(at('hidden/below/file'), '');
    symlinkSync('shown', at('new'));
    renameSync(at('new'), at('link'));
    await watched.until('link', 'created');
    expect(watched.story.filter((change) => change.includes('file'))).toEqual([]);
  });
});

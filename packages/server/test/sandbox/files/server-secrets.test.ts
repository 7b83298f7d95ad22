import { rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { nativeToPathUri, type SandboxContext } from '@exec-server/protocol';
import { expect, it } from 'vitest';
import { describeAttempts } from '../../support/confined-attempts.js';
import { READ_ROOT, rule, sandboxOf, special } from '../../support/sandbox.js';

const LEAK = 'of the server alone';
const NOT_FOUND = -32004;

const WRITE_ROOT = special({ kind: 'root' }, 'write');

function permit(permissions: SandboxContext['permissions']): SandboxContext {
  return { permissions, windowsSandboxLevel: 'disabled' };
}

/** Contexts that let everything be read, and still confine programs. */
const CONTEXTS: Readonly<Record<string, SandboxContext>> = {
  'everything to read': sandboxOf([READ_ROOT]),
  'everything to read, and the network': sandboxOf([READ_ROOT], { network: 'enabled' }),
  'everything to write but one': sandboxOf([WRITE_ROOT, rule('/etc/hostname', 'read')]),
  'everything to write': sandboxOf([WRITE_ROOT]),
  'all files': permit({ type: 'managed', network: 'restricted', file_system: { type: 'unrestricted' } }),
  "somebody else's files": permit({ type: 'external', network: 'restricted' }),
};

describeAttempts({ env: { EXEC_TEST_LEAK: LEAK } }, (attempts) => {
  const { call, read, shell, inWorkspace } = attempts;
  const ofServer = (name: string) => `/proc/${attempts.server.pid}${name}`;

  /** What `fs/open` and a read of the first bytes come to: text, or the code of a refusal. */
  async function readByHandle(path: string, sandbox: SandboxContext): Promise<string | number> {
    const handleId = 'handle';
    const { error } = await call('fs/open', path, sandbox, { handleId });
    if (error !== undefined) return error.code;
    const block = await attempts.wire.request('fs/readBlock', { handleId, offset: 0, len: 65_536 });
    await attempts.wire.request('fs/close', { handleId });
    return block.error?.code ?? Buffer.from(block.result?.chunk as string, 'base64').toString();
  }

  it('the server tells who asks it without a context, so that what follows means something', async () => {
    const { result } = await attempts.wire.request('fs/readFile', {
      path: nativeToPathUri(ofServer('/environ')),
    });
    expect(Buffer.from(result?.dataBase64 as string, 'base64').toString()).toContain(LEAK);
  });

  it.each(Object.entries(CONTEXTS))(
    '%s: the variables of the server are not read',
    async (_name, sandbox) => {
      const ways = [
        '/proc/self/environ',
        '/proc/thread-self/environ',
        '/dev/fd/../environ',
        ofServer('/environ'),
        ofServer(`/task/${attempts.server.pid}/environ`),
        ofServer('/root/proc/self/environ'),
        ofServer(`/root/proc/${attempts.server.pid}/environ`),
      ];
      for (const [index, way] of ways.entries()) {
        const link = inWorkspace(`link-${index}`);
        symlinkSync(way, link);
        for (const path of [way, link]) {
          for (const found of [await read(path, sandbox), await readByHandle(path, sandbox)])
            expect([path, String(found).includes(LEAK)]).toEqual([path, false]);
          await attempts.wire.request('fs/copy', {
            sourcePath: nativeToPathUri(path),
            destinationPath: nativeToPathUri(inWorkspace('copy')),
            recursive: true,
            sandbox,
          });
        }
      }
      expect((await shell('cat copy copy/* 2>&1; true')).output).not.toContain(LEAK);
    },
  );

  it.each(Object.entries(CONTEXTS))('%s: neither the server nor others are there', async (_name, sandbox) => {
    for (const name of ['', '/environ', '/maps', '/mem', '/fd', '/fd/0', '/cwd', '/root', '/exe', '/task']) {
      const path = ofServer(name);
      for (const method of ['fs/getMetadata', 'fs/canonicalize', 'fs/readLink', 'fs/readDirectory']) {
        const { error } = await call(method, path, sandbox);
        expect([method, path, error?.code]).toEqual([method, path, NOT_FOUND]);
      }
      const watched = await call('fs/watch', path, sandbox, { watchId: `watch ${name}` });
      expect([path, watched.error?.code]).toEqual([path, NOT_FOUND]);
    }
    const { result } = await call('fs/readDirectory', '/proc', sandbox);
    const names = (result!.entries as { fileName: string }[]).map(({ fileName }) => Number(fileName));
    expect(Math.max(...names.filter((name) => !Number.isNaN(name)))).toBeLessThan(10);
    const walked = await call('fs/walk', '/proc', sandbox, {
      options: { maxDepth: 1, maxDirectories: 1_000, maxEntries: 10_000, followDirectorySymlinks: false },
    });
    const paths = (walked.result!.entries as { path: string }[]).map(({ path }) => path);
    expect(paths.length).toBeGreaterThan(10);
    expect(paths.filter((path) => path.startsWith(nativeToPathUri(ofServer(''))))).toEqual([]);
  });

  it.each(Object.entries(CONTEXTS))('%s: shows what programs see, and no more', async (_name, sandbox) => {
    const shared = `/dev/shm/exec-server-${process.pid}-${attempts.user.replace(' ', '-')}`;
    writeFileSync(shared, 'shared', { mode: 0o644 });
    writeFileSync(inWorkspace('file'), 'mine', { mode: 0o644 });
    try {
      const paths = [
        inWorkspace('file'),
        shared,
        '/etc/passwd',
        '/proc/version',
        '/proc/kcore',
        '/proc/keys',
      ];
      for (const path of paths) {
        const found = await read(path, sandbox);
        const { output, exitCode } = await shell(`cat '${path}' 2>/dev/null`, sandbox);
        expect([path, typeof found === 'string' ? found : '']).toEqual([path, exitCode === 0 ? output : '']);
      }
    } finally {
      rmSync(shared);
    }
  });

  it('a helper does not hear from those whom it writes for', async () => {
    const sandbox = attempts.usual();
    expect(await attempts.write(inWorkspace('file'), sandbox)).toBeUndefined();
    for (const path of [
      '/proc/self/fd/1',
      '/dev/stdout',
      '/dev/fd/1',
      '/proc/thread-self/fd/1',
      '/proc/2/fd/1',
      '/proc/self/fd/0',
      '/proc/self/fd/2',
    ])
      expect([path, await attempts.write(path, sandbox)]).toEqual([path, expect.any(Number)]);
    expect(await read(inWorkspace('file'), sandbox)).toBe('broken');
  });

  it('a helper does not tell what is in its memory', async () => {
    for (const path of ['/proc/self/mem', '/proc/2/mem', '/proc/thread-self/mem', '/proc/self/task/2/mem']) {
      const { error } = await call('fs/open', path, attempts.usual(), { handleId: path });
      expect([path, error?.code]).toEqual([path, -32600]);
    }
  });
});

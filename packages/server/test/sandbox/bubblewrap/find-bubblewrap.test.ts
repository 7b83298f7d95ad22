import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { READ_ROOT, sandboxOf } from '../../support/sandbox.js';
import { startParams } from '../../support/session.js';
import { makeTempDirectory } from '../../support/temp-directory.js';

beforeEach((test) => {
  if (process.platform !== 'linux') test.skip('needs Linux');
  // What was found is remembered.
  vi.resetModules();
});
afterEach(() => vi.unstubAllEnvs());

/** Makes the server's PATH lead to a `bwrap` that does as the script says, or to none. */
async function replaceBubblewrap(script?: string): Promise<string> {
  const directory = await makeTempDirectory();
  const program = join(directory, 'bwrap');
  if (script !== undefined) {
    await writeFile(program, `#!/bin/sh\n${script}\n`);
    await chmod(program, 0o755);
  }
  vi.stubEnv('PATH', directory);
  return program;
}

/** Asks a server that may use nothing else for a sandbox and gives its refusal. */
async function refusalOf(): Promise<unknown> {
  const { openServer, openSession } = await import('../../support/session.js');
  const wire = await openSession(openServer({ sandboxBackend: 'bubblewrap' }));
  const sandbox = sandboxOf([READ_ROOT]);
  return (await wire.request('process/start', startParams('confined', ['/bin/true'], { sandbox }))).error;
}

async function find() {
  const { findBubblewrap } = await import('../../../src/sandbox/bubblewrap/find-bubblewrap.js');
  return findBubblewrap();
}

async function probe() {
  const { BubblewrapBackend } = await import('../../../src/sandbox/bubblewrap/bubblewrap-backend.js');
  return new BubblewrapBackend().probe();
}

it('says how to install what is missing, and refuses', async () => {
  await replaceBubblewrap();
  expect(await find()).toMatchObject({ available: false, reason: 'bubblewrap (`bwrap`) is not installed' });
  expect(await probe()).toMatchObject({ works: false, hint: expect.stringContaining('apt-get') });
  expect(await refusalOf()).toMatchObject({
    code: -32602,
    message: expect.stringMatching(
      /^sandbox intent cannot be enforced on this executor: bubblewrap: .*apt-get install bubblewrap/,
    ),
  });
});

it('finds it without a restart once it is installed', async () => {
  const program = await replaceBubblewrap();
  expect(await find()).toMatchObject({ available: false });
  await writeFile(program, '#!/bin/sh\necho bubblewrap 0.5.0\n', { mode: 0o755 });
  expect(await find()).toEqual({ available: true, path: program, version: '0.5.0' });
});

it.each([
  ['0.4.9', false],
  ['0.5.0', true],
  ['0.5.1', true],
  ['0.11', true],
  ['1.0.0', true],
])('judges version %s', async (version, available) => {
  const path = await replaceBubblewrap(`echo "bubblewrap ${version}"`);
  expect(await find()).toMatchObject({ available, version, path });
});

it('does not use one that does not say its version', async () => {
  await replaceBubblewrap('exit 1');
  expect(await find()).toMatchObject({
    available: false,
    reason: expect.stringContaining('does not say its version'),
  });
});

it('says what bubblewrap says when a trial fails, and frees the id', async () => {
  await replaceBubblewrap(
    '[ "$1" = --version ] && { echo "bubblewrap 0.8.0"; exit; }; echo "bwrap: no way" >&2; exit 1',
  );
  expect(await probe()).toEqual({
    works: false,
    reason: 'bwrap: no way',
    hint: expect.stringContaining('user namespaces'),
  });
  expect(await refusalOf()).toMatchObject({
    code: -32602,
    message: expect.stringContaining('on this executor: bubblewrap: bwrap: no way; allow unprivileged user'),
  });
});

it('says what bubblewrap says when it works in a trial and fails later, and frees the id', async () => {
  await replaceBubblewrap(
    'case "$*" in *--version*) echo "bubblewrap 0.8.0" ;; *--args*) echo "bwrap: no way" >&2; exit 1 ;; esac',
  );
  const { openServer, openSession } = await import('../../support/session.js');
  const wire = await openSession(openServer({ sandboxBackend: 'bubblewrap' }));
  const params = startParams('again', ['/bin/true'], { sandbox: sandboxOf([READ_ROOT]) });
  for (let attempt = 0; attempt < 2; attempt++)
    expect((await wire.request('process/start', params)).error).toMatchObject({
      code: -32602,
      message: 'failed to prepare process sandbox: bwrap: no way',
    });
  expect((await wire.request('process/start', { ...params, sandbox: null })).result).toBeDefined();
});

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

/** Asks a server for a sandbox and gives its refusal. */
async function refusalOf(): Promise<unknown> {
  const { openServer, openSession } = await import('../../support/session.js');
  const wire = await openSession(openServer());
  const sandbox = sandboxOf([READ_ROOT]);
  return (await wire.request('process/start', startParams('confined', ['/bin/true'], { sandbox }))).error;
}

async function findAndDescribe() {
  const { findBubblewrap } = await import('../../../src/sandbox/bubblewrap/find-bubblewrap.js');
  const { describeSandbox } = await import('../../../src/sandbox/bubblewrap/describe-sandbox.js');
  return { found: findBubblewrap(), description: describeSandbox() };
}

it('says how to install what is missing, and refuses', async () => {
  await replaceBubblewrap();
  const { found, description } = await findAndDescribe();
  expect(found).toMatchObject({ available: false, reason: 'bubblewrap (`bwrap`) is not installed' });
  expect(description).toMatchObject({
    kind: 'bubblewrap',
    available: false,
    hint: expect.stringContaining('apt-get'),
  });
  expect(await refusalOf()).toEqual({
    code: -32602,
    message: expect.stringMatching(
      /^sandbox intent cannot be enforced on this executor: .*apt-get install bubblewrap/,
    ),
  });
});

it('finds it without a restart once it is installed', async () => {
  const program = await replaceBubblewrap();
  const { found } = await findAndDescribe();
  expect(found.available).toBe(false);
  await writeFile(program, '#!/bin/sh\necho bubblewrap 0.5.0\n', { mode: 0o755 });
  expect((await findAndDescribe()).found).toEqual({ available: true, path: program, version: '0.5.0' });
});

it.each([
  ['0.4.9', false],
  ['0.5.0', true],
  ['0.5.1', true],
  ['0.11', true],
  ['1.0.0', true],
])('judges version %s', async (version, available) => {
  const path = await replaceBubblewrap(`echo "bubblewrap ${version}"`);
  expect((await findAndDescribe()).found).toMatchObject({ available, version, path });
});

it('does not use one that does not say its version', async () => {
  await replaceBubblewrap('exit 1');
  expect((await findAndDescribe()).found).toMatchObject({
    available: false,
    reason: expect.stringContaining('does not say its version'),
  });
});

it('says what bubblewrap says when it fails, frees the id, and knows it beforehand when asked', async () => {
  await replaceBubblewrap(
    '[ "$1" = --version ] && { echo "bubblewrap 0.8.0"; exit; }; echo "bwrap: no way" >&2; exit 1',
  );
  expect((await findAndDescribe()).description).toMatchObject({
    available: false,
    version: '0.8.0',
    reason: 'bwrap: no way',
    hint: expect.stringContaining('user namespaces'),
  });
  const refusal = { code: -32602, message: 'failed to prepare process sandbox: bwrap: no way' };
  expect(await refusalOf()).toEqual(refusal);
  const { openServer, openSession } = await import('../../support/session.js');
  const wire = await openSession(openServer());
  const params = startParams('again', ['/bin/true'], { sandbox: sandboxOf([READ_ROOT]) });
  expect((await wire.request('process/start', params)).error).toEqual(refusal);
  expect((await wire.request('process/start', { ...params, sandbox: null })).result).toBeDefined();
});

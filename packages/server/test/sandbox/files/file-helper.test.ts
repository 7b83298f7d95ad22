import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { nativeToPathUri } from '@exec-server/protocol';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/clock.js';
import { createLauncher } from '../../../src/native/launcher.js';
import { SandboxBackends } from '../../../src/sandbox/backends.js';
import {
  FileHelper,
  type HelperAnswer,
  HelperGoneError,
  MAX_CALLS_IN_FLIGHT,
} from '../../../src/sandbox/files/file-helper.js';
import type { FilePolicy } from '../../../src/sandbox/policy/policy.js';
import { silentLogger } from '../../../src/telemetry/logger.js';
import { requireSandbox, resolveNow, rule, sandboxOf } from '../../support/sandbox.js';
import { makeTempDirectory } from '../../support/temp-directory.js';

beforeEach(requireSandbox);

const FOR_ANYBODY = { requestId: 1, signal: new AbortController().signal };

async function startHelper() {
  const directory = await makeTempDirectory();
  writeFileSync(join(directory, 'file'), 'hello');
  const { files } = resolveNow(sandboxOf([rule(directory, 'read')]), { temporaryDirectories: [] });
  const launcher = createLauncher();
  const options = { launcher, backends: new SandboxBackends(), clock: systemClock, logger: silentLogger };
  const helper = await FileHelper.start(files as FilePolicy, 'reads', options);
  onTestFinished(async () => {
    await helper.end();
    await launcher.close();
  });
  return { helper, directory, path: nativeToPathUri(join(directory, 'file')) };
}

const textOf = (answer: HelperAnswer) =>
  answer.kind === 'response' ? Buffer.from(answer.line).toString() : JSON.stringify(answer.value);

describe('a helper', () => {
  it('answers, also with whole responses for the request that asked', async () => {
    const { helper, path } = await startHelper();
    expect(await helper.call('fs/canonicalize', { path }, FOR_ANYBODY)).toEqual({
      kind: 'result',
      value: { path },
    });
    for (const requestId of [7, 'seven', 2n ** 63n - 1n]) {
      const id = typeof requestId === 'string' ? '"seven"' : String(requestId);
      const answer = await helper.call('fs/readFile', { path }, { ...FOR_ANYBODY, requestId });
      expect(textOf(answer)).toBe(`{"id":${id},"result":{"dataBase64":"aGVsbG8="}}\n`);
    }
  });

  it('says why it did not', async () => {
    const { helper, path } = await startHelper();
    const missing = helper.call('fs/readFile', { path: `${path}-not` }, FOR_ANYBODY);
    await expect(missing).rejects.toMatchObject({
      code: -32004,
      message: 'No such file or directory (os error 2)',
      data: { code: 'file_not_found', errno: 'ENOENT' },
    });
    await expect(helper.call('no/method', {}, FOR_ANYBODY)).rejects.toThrow('unknown method no/method');
  });

  it('can write nothing where it is to read, and nothing of the server is there', async () => {
    const { helper, path } = await startHelper();
    const write = helper.call('fs/writeFile', { path, dataBase64: '' }, FOR_ANYBODY);
    await expect(write).rejects.toThrow('Read-only file system (os error 30)');
    const environment = await helper.call('fs/readFile', { path: 'file:///proc/self/environ' }, FOR_ANYBODY);
    expect(textOf(environment)).toContain('"dataBase64":""');
    const descriptors = await helper.call(
      'fs/readDirectory',
      { path: 'file:///proc/1/fd', includeBroken: true },
      FOR_ANYBODY,
    );
    expect(textOf(descriptors)).not.toMatch(/"fileName":"[3-9]\d/);
    const siblings = helper.call(
      'fs/readDirectory',
      { path: nativeToPathUri(join(process.execPath, '..')) },
      FOR_ANYBODY,
    );
    expect(JSON.parse(textOf(await siblings))).toMatchObject({ entries: [{ fileName: 'node' }] });
  });

  it('works on as many calls at once as it may, and on the others afterwards', async () => {
    const { helper, path } = await startHelper();
    const calls = Array.from({ length: 3 * MAX_CALLS_IN_FLIGHT + 1 }, () =>
      helper.call('fs/canonicalize', { path }, FOR_ANYBODY),
    );
    expect(new Set((await Promise.all(calls)).map(textOf))).toEqual(new Set([JSON.stringify({ path })]));
  });

  it('stops what nobody waits for', async () => {
    const { helper, directory } = await startHelper();
    for (let n = 0; n < 300; n++) mkdirSync(join(directory, `d${n}/e/f/g`), { recursive: true });
    const options = { maxDepth: 9, maxDirectories: 9_999, maxEntries: 49_999, followDirectorySymlinks: true };
    const controller = new AbortController();
    const walk = helper.call(
      'fs/walk',
      { path: nativeToPathUri(directory), options },
      { ...FOR_ANYBODY, signal: controller.signal },
    );
    controller.abort();
    await expect(walk).rejects.toThrow('aborted');
    await expect(
      helper.call('fs/canonicalize', {}, { ...FOR_ANYBODY, signal: controller.signal }),
    ).rejects.toThrow('aborted');
  });

  it('that is killed fails what it worked on, and everything after', async () => {
    const { helper, path } = await startHelper();
    await helper.call('fs/canonicalize', { path }, FOR_ANYBODY);
    const call = helper.call('fs/canonicalize', { path }, FOR_ANYBODY);
    helper.kill();
    await Promise.all([expect(call).rejects.toThrow(HelperGoneError), helper.ended]);
    await expect(helper.call('fs/canonicalize', { path }, FOR_ANYBODY)).rejects.toThrow(HelperGoneError);
  });
});

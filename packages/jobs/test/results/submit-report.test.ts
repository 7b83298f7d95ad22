import * as fs from 'node:fs/promises';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { MAX_RESULT_BYTES } from '../../src/results/schema.js';
import { submitReport } from '../../src/results/submit-report.js';
import {
  closeReports,
  closeWork,
  createToken,
  digestToken,
  readReport,
  reportedFile,
  VARIABLES,
  workDirectory,
  workerFiles,
} from '../../src/results/work-place.js';
import { makeDirectory } from '../temp-directory.js';

async function makeWorker(schema?: object) {
  const root = await makeDirectory();
  const token = createToken('secret', 0, 1);
  const directory = workDirectory(root, 0, 1, digestToken(token, 'job', 'item'));
  await mkdir(directory);
  if (schema !== undefined) await writeFile(join(root, 'schema.json'), JSON.stringify(schema));
  const env = {
    [VARIABLES.jobId]: 'job',
    [VARIABLES.itemId]: 'item',
    [VARIABLES.result]: workerFiles(directory).result,
    [VARIABLES.token]: token,
  };
  return { directory, env };
}

describe('submitReport', () => {
  it('is accepted once', async () => {
    const { directory, env } = await makeWorker();
    const [one, other] = await Promise.all([
      submitReport({ result: { a: 1 } }, env),
      submitReport({ result: { a: 1 } }, env),
    ]);
    expect([one, other].map(({ accepted }) => String(accepted)).sort()).toEqual(['false', 'true']);
    expect(await submitReport({ result: { a: 2 } }, env)).toEqual({ accepted: false });
    expect(await readReport(fs, directory)).toMatchObject({ result: { a: 1 }, stop: false });
    expect(await readdir(directory)).toEqual(['report.json']);
  });

  it('is not accepted once the item does not run any more', async () => {
    const { directory, env } = await makeWorker();
    expect(await closeReports(fs, directory)).toBeUndefined();
    expect(await submitReport({ result: {} }, env)).toEqual({ accepted: false });
    expect(await readReport(fs, directory)).toBeUndefined();
    await rm(dirname(env.EXEC_SERVER_RESULT ?? ''), { recursive: true });
    expect(await submitReport({ result: {} }, env)).toEqual({ accepted: false });
  });

  it.each([
    ['here', fs],
    ['elsewhere', { ...fs, rmdir: undefined }],
  ])('of a report and the end of the item one comes first, %s', async (_, { rmdir, ...others }) => {
    const files = { ...others, ...(rmdir !== undefined && { rmdir }) };
    for (let round = 0; round < 30; round++) {
      const { directory, env } = await makeWorker();
      const [{ accepted }, { report, isRemoved }] = await Promise.all([
        submitReport({ result: { round }, stop: true }, env),
        closeWork(files, directory),
      ]);
      expect(report !== undefined).toBe(accepted);
      if (accepted) expect(report).toMatchObject({ result: { round }, stop: true });
      if (isRemoved) await expect(fs.stat(directory)).rejects.toMatchObject({ code: 'ENOENT' });
      expect(await submitReport({ result: { round } }, env)).toEqual({ accepted: false });
    }
  });

  it('what a worker leaves is there after its end', async () => {
    const { directory } = await makeWorker();
    await writeFile(workerFiles(directory).result, 'text');
    expect(await closeWork(fs, directory)).toEqual({ resultFile: 'text', isRemoved: false });
    expect(await closeWork(fs, directory)).toEqual({ resultFile: 'text', isRemoved: false });
  });

  it('tells the runner', async () => {
    const { directory, env } = await makeWorker();
    await mkdir(dirname(reportedFile(directory)));
    await submitReport({ result: {} }, env);
    await fs.stat(reportedFile(directory));
  });

  it.each([
    ['another token', { EXEC_SERVER_REPORT_TOKEN: 'x' }, {}],
    ['another item', {}, { itemId: 'other' }],
    ['another job', {}, { jobId: 'other' }],
  ])('of %s is not accepted', async (_, variables, names) => {
    const { env } = await makeWorker();
    expect(await submitReport({ result: {}, ...names }, { ...env, ...variables })).toEqual({
      accepted: false,
    });
    expect((await submitReport({ result: {} }, env)).accepted).toBe(true);
  });

  it('that does not fit the schema is refused with the reason, and may be tried again', async () => {
    const schema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
    const { env } = await makeWorker(schema);
    expect(await submitReport({ result: { n: 'x' } }, env)).toEqual({
      accepted: false,
      reason: 'the result does not match the schema: /n must be number',
    });
    expect(await submitReport({ result: [1] }, env)).toEqual({
      accepted: false,
      reason: 'result must be a JSON object',
    });
    expect(await submitReport({ result: { n: 1 } }, env)).toEqual({ accepted: true });
  });

  it.each([
    [-1, true],
    [0, true],
    [1, false],
  ])('with %i bytes more than the limit is accepted: %s', async (more, accepted) => {
    const { env } = await makeWorker();
    const frame = JSON.stringify({ t: '' }).length;
    const result = { t: 'x'.repeat(MAX_RESULT_BYTES - frame + more) };
    expect((await submitReport({ result }, env)).accepted).toBe(accepted);
  });

  it('outside of a worker says what is missing', async () => {
    await expect(submitReport({ result: {} }, {})).rejects.toMatchObject({ code: 'usage' });
  });
});

import { watch } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { endServer, findServer } from '../../src/local-server/start-server.js';
import { createJob } from '../../src/store/create-job.js';
import { makeDirectory } from '../temp-directory.js';
import { RunnerProcess } from './killed-runner.js';
import { readOutput, sh } from './support.js';

/** `JOBS_MOMENTS=200 npx vitest run packages/jobs/test/run/killed-moments` takes some minutes. */
const MOMENTS = Number(process.env.JOBS_MOMENTS ?? 6);
const SEED = Number(process.env.JOBS_SEED ?? 1);
const ROWS = 24;
const LONGEST_DELAY_MS = 250;
/** Bytes of the journal of a whole job, about. */
const JOURNAL_BYTES = 10_000;

/** A worker that logs its start and then does what its row says. */
const WORKER = `
echo "$EXEC_SERVER_ITEM_ID" >> "$1/starts"
sleep "0.0$3"
case $2 in
  stdout) echo "{\\"row\\": \\"$EXEC_SERVER_ITEM_ID\\"}" ;;
  file) echo "{\\"row\\": \\"$EXEC_SERVER_ITEM_ID\\"}" > "$EXEC_SERVER_RESULT" ;;
  stdin) cat ;;
  fail) exit 3 ;;
esac`;
const KINDS = ['stdout', 'file', 'stdin', 'fail', 'nothing'] as const;

function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Resolves after a while, or when the journal is so long. */
function moment(journal: string, random: () => number): Promise<void> {
  const delay = () =>
    new Promise<void>((resolve) => setTimeout(resolve, Math.floor(random() * LONGEST_DELAY_MS)));
  if (random() < 0.3) return delay();
  const length = Math.floor(random() * JOURNAL_BYTES);
  return new Promise((resolve) => {
    const watcher = watch(join(journal, '..'));
    const look = async () => {
      const { size } = await stat(journal).catch(() => ({ size: 0 }));
      if (size < length) return;
      watcher.close();
      resolve();
    };
    watcher.on('change', () => void look());
    void look();
  });
}

const resultOf = (kind: (typeof KINDS)[number], row: object, itemId: string) => {
  if (kind === 'stdin') return JSON.stringify(row);
  return kind === 'stdout' || kind === 'file' ? JSON.stringify({ row: itemId }) : '';
};

async function playJob(random: () => number, kills: { left: number }): Promise<void> {
  const directory = await makeDirectory();
  const rows = Array.from({ length: ROWS }, (_, index) => ({
    kind: KINDS[Math.floor(random() * KINDS.length)] ?? 'nothing',
    pause: String(Math.floor(random() * 10)),
    index,
  }));
  const files = await createJob({
    rows,
    command: sh(WORKER, directory, '{kind}', '{pause}'),
    concurrency: 4,
    output: join(directory, 'out.csv'),
    root: join(directory, 'jobs'),
  });
  onTestFinished(() => endServer(files));
  for (;;) {
    const runner = new RunnerProcess({ directory: files.directory });
    const ended = runner.directory().then(() => runner.summary());
    if (kills.left > 0) {
      await Promise.race([moment(files.journal, random), ended]);
      if (await runner.kill()) kills.left--;
    }
    if ((await ended) !== undefined) break;
  }
  expect(await findServer(files)).toBeUndefined();
  const starts = (await readFile(join(directory, 'starts'), 'utf8')).trim().split('\n');
  const items = rows.map((_, index) => `row-${index + 1}`);
  expect(starts.sort()).toEqual([...items].sort());
  const output = await readOutput(join(directory, 'out.csv'));
  expect(
    output.map(({ item_id, status, attempt_count, last_error, result_json }) => [
      item_id,
      status,
      attempt_count,
      last_error,
      result_json,
    ]),
  ).toEqual(
    rows.map((row, index) => [
      items[index],
      row.kind === 'fail' ? 'failed' : 'completed',
      '1',
      row.kind === 'fail' ? 'worker exited with code 3' : '',
      resultOf(row.kind, row, items[index] ?? ''),
    ]),
  );
}

test(
  `killed at ${MOMENTS} moments and resumed: each row once, no worker twice, no result lost (seed ${SEED})`,
  async () => {
    const random = createRandom(SEED);
    const kills = { left: MOMENTS };
    while (kills.left > 0) await playJob(random, kills);
  },
  60_000 + MOMENTS * 10_000,
);

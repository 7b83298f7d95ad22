import { describe, expect, it } from 'vitest';
import { column, REPORT_COMMAND, runToEnd } from './support.js';

const NUMBER = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
/** The script of a row reports by `"$@" REQUEST`. */
const COMMAND = ['/bin/sh', '-c', '{script}', 'sh', ...REPORT_COMMAND];

describe('results', () => {
  it('are what a worker leaves in its file, or else on stdout', async () => {
    const cases = [
      ['echo " {"n": 1}"', '{"n":1}'],
      ['echo "{"n": 2}" > "$EXEC_SERVER_RESULT"; echo text', '{"n":2}'],
      ['echo "{"n": 3}" > "$EXEC_SERVER_RESULT"; echo "{"n": 4}"', '{"n":3}'],
      ['echo text', ''],
      ['echo "[1]"', ''],
      ['echo "{}"; echo "{}"', ''],
    ].map(([script = '', result]) => [script.replaceAll('"n"', '\\"n\\"'), result]);
    const { output } = await runToEnd({ rows: cases.map(([script]) => ({ script })), command: COMMAND });
    expect(column(output, 'result_json')).toEqual(cases.map(([, result]) => result));
    expect(new Set(column(output, 'status'))).toEqual(new Set(['completed']));
    expect(new Set(column(output, 'reported_at'))).toEqual(new Set(['']));
  });

  it('where they are demanded, an item without one has failed', async () => {
    const missing = 'worker finished without calling report_agent_job_result';
    const mismatch = 'the result does not match the schema: /n must be number';
    const cases = [
      ['echo text', missing],
      ['exit 1', 'worker exited with code 1'],
      [`echo '{"n": true}'`, `${missing}: ${mismatch}`],
      [`echo '{"n": "x"}' > "$EXEC_SERVER_RESULT"`, mismatch],
      [`echo '{"n": 1}'`, ''],
    ];
    const { output } = await runToEnd({
      rows: cases.map(([script]) => ({ script })),
      command: COMMAND,
      schema: NUMBER,
    });
    expect(column(output, 'last_error')).toEqual(cases.map(([, error]) => error));
    expect(column(output, 'result_json')).toEqual(['', '', '', '', '{"n":1}']);
  });

  it('a report completes its item; what the worker does then changes nothing', async () => {
    const scripts = [
      `"$@" '{"result": {"n": 1}}'; echo '{"n": 9}'; exit 7`,
      `"$@" '{"result": {"n": "x"}}' >&2; "$@" '{"result": {"n": 2}}' >&2; "$@" '{"result": {"n": 3}}' >&2`,
      `"$@" '{"result": {"n": 4}, "itemId": "row-1"}' >&2`,
      `unset EXEC_SERVER_REPORT_TOKEN; EXEC_SERVER_REPORT_TOKEN=x "$@" '{"result": {"n": 5}}' >&2`,
    ];
    const { output } = await runToEnd({
      rows: scripts.map((script) => ({ script })),
      command: COMMAND,
      schema: NUMBER,
    });
    expect(column(output, 'result_json')).toEqual(['{"n":1}', '{"n":2}', '', '']);
    expect(column(output, 'status')).toEqual(['completed', 'completed', 'failed', 'failed']);
    expect(column(output, 'reported_at').map((time) => time !== '')).toEqual([true, true, false, false]);
  });

  it('a report that says stop cancels the job; what runs may finish', async () => {
    // The second one waits until the first one's files are put away.
    const waiting = 'while ls -d "$(dirname "$(dirname "$EXEC_SERVER_ROW")")"/0-1-*; do sleep 0.02; done';
    const scripts = [`"$@" '{"result": {}, "stop": true}'`, waiting, 'exit 0', 'exit 0'];
    const { summary, output } = await runToEnd({
      rows: scripts.map((script) => ({ script })),
      command: COMMAND,
      concurrency: 2,
    });
    expect(summary).toMatchObject({ status: 'cancelled', error: 'cancelled by worker request' });
    expect(column(output, 'status')).toEqual(['completed', 'completed', 'pending', 'pending']);
  });
});

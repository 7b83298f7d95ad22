import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type JobSummary, runJob, streamJob } from '@exec-server/jobs';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { describeModel } from './codex-run.js';
import { CODEX_BIN, requireCodex } from './require-codex.js';
import { type ConversationItem, type Question, ScriptedModel } from './scripted-model.js';
import { SERVER_COMMAND, setStage } from './stage.js';

const ROWS = ['alpha', 'beta', 'gamma'].map((name) => ({ name }));
const SCHEMA = {
  type: 'object',
  properties: { letters: { type: 'integer' } },
  required: ['letters'],
  additionalProperties: false,
};

const say = (text: string): ConversationItem => ({
  type: 'message',
  role: 'assistant',
  id: 'last',
  content: [{ type: 'output_text', text }],
});

/** Runs a job whose workers are the CLI and whose model answers by the name in the prompt. */
async function runAgents(
  answer: (name: string, question: Question) => void,
  schema?: object,
): Promise<{ readonly summary: JobSummary; readonly items: readonly Record<string, unknown>[] }> {
  const stage = setStage();
  const model = await ScriptedModel.start();
  onTestFinished(() => model[Symbol.asyncDispose]());
  writeFileSync(join(stage.codexHome, 'config.toml'), describeModel(model.baseUrl));
  const run = await runJob({
    rows: ROWS,
    codex: {
      instruction: 'Count the letters of {name}.',
      command: [CODEX_BIN, '--sandbox', 'danger-full-access'],
    },
    ...(schema !== undefined && { schema }),
    env: { HOME: stage.env.HOME ?? '', CODEX_HOME: stage.codexHome },
    cwd: stage.work,
    root: join(stage.work, 'jobs'),
    serverCommand: [...SERVER_COMMAND, 'job', 'serve'],
  });
  let isOver = false;
  void (async () => {
    while (!isOver) {
      const question = await model.next();
      const prompt = JSON.stringify(question.input);
      const { name = '' } = ROWS.find((row) => prompt.includes(`Count the letters of ${row.name}.`)) ?? {};
      answer(name, question);
    }
  })();
  const summary = await run.result;
  isOver = true;
  let text = '';
  for await (const piece of streamJob(run.directory, 'jsonl')) text += piece;
  const items = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  return { summary, items };
}

describe('a job whose worker is the Codex CLI', () => {
  beforeEach((context) => requireCodex(context));

  test('has the last message of each agent as the result', async () => {
    const { summary, items } = await runAgents((name, question) => question.answer(say(`${name} done`)));
    expect(summary).toMatchObject({ status: 'completed', completed: 3, failed: 0 });
    expect(items.map(({ result }) => result)).toEqual(
      ROWS.map(({ name }) => ({ last_agent_message: `${name} done` })),
    );
  });

  test('with a schema has the object that the agent ends with, and fails what does not fit', async () => {
    const { items } = await runAgents((name, question) => {
      question.answer(say(name === 'beta' ? '{"letters": "four"}' : `{"letters": ${name.length}}`));
    }, SCHEMA);
    expect(items.map(({ status, result, last_error }) => [status, result, last_error])).toEqual([
      ['completed', { letters: 5 }, undefined],
      ['failed', undefined, 'the result does not match the schema: /letters must be integer'],
      ['completed', { letters: 5 }, undefined],
    ]);
  });

  test('says of a turn that failed what the agent said of it', async () => {
    const { items } = await runAgents((name, question) => {
      if (name === 'gamma') question.fail();
      else question.answer(say('ok'));
    });
    expect(items.map(({ status }) => status)).toEqual(['completed', 'completed', 'failed']);
    expect(String(items[2]?.last_error)).toContain('high demand');
  });
});

import { describe, expect, it } from 'vitest';
import { watchTurn } from '../../src/codex/codex-kind.js';
import { createWorkerPrompt } from '../../src/codex/worker-prompt.js';
import { createResultCheck } from '../../src/results/schema.js';

const COMPLETED = '{"type":"turn.completed"}\n';
const message = (text: string) =>
  `${JSON.stringify({ type: 'item.completed', item: { type: 'agent_message', text } })}\n`;
const SCHEMA = { type: 'object', required: ['n'], properties: { n: { type: 'number' } } };

const judge = async (stdout: string, failure?: string, schema?: object) => {
  const watch = watchTurn(schema && (await createResultCheck(schema)));
  watch.take(Buffer.from(stdout));
  return watch.judge(failure);
};

describe('watchTurn', () => {
  it.each<[string, string | undefined, object | undefined, object]>([
    [
      message('hi') + COMPLETED,
      undefined,
      undefined,
      { status: 'completed', result: { last_agent_message: 'hi' } },
    ],
    [message('{"n":1}') + COMPLETED, undefined, SCHEMA, { status: 'completed', result: { n: 1 } }],
    [
      message('{"n":"x"}') + COMPLETED,
      undefined,
      SCHEMA,
      { status: 'failed', error: 'the result does not match the schema: /n must be number' },
    ],
    [message('hi'), undefined, undefined, { status: 'failed', error: 'turn interrupted' }],
    [
      message('hi') + COMPLETED,
      'outcome unknown: lost',
      undefined,
      { status: 'failed', error: 'the turn completed; outcome unknown: lost' },
    ],
    [
      '',
      'worker exceeded max runtime of 1s',
      undefined,
      { status: 'failed', error: 'turn interrupted; worker exceeded max runtime of 1s' },
    ],
    [
      '{"type":"turn.failed","error":{"message":"no"}}\n',
      'worker exited with code 1',
      undefined,
      { status: 'failed', error: 'no' },
    ],
    [
      `not JSON\n${message('hi')}${COMPLETED}`,
      undefined,
      undefined,
      { status: 'completed', result: { last_agent_message: 'hi' } },
    ],
  ])('%j with failure %j', async (stdout, failure, schema, end) => {
    expect(await judge(stdout, failure, schema)).toEqual(end);
  });
});

describe('createWorkerPrompt', () => {
  it('has the lines that agents and tests look for', () => {
    const prompt = createWorkerPrompt({
      jobId: 'J',
      itemId: 'I',
      instruction: 'Do it.',
      row: { a: '1' },
      schema: undefined,
    });
    expect(prompt.split('\n').slice(0, 6)).toEqual([
      'You are processing one item for a generic agent job.',
      'Job ID: J',
      'Item ID: I',
      '',
      'Task instruction:',
      'Do it.',
    ]);
    expect(prompt).toContain('{\n  "a": "1"\n}');
    expect(prompt).toContain('Expected result schema (JSON Schema or {}):\n{}');
    expect(
      createWorkerPrompt({ jobId: 'J', itemId: 'I', instruction: '', row: {}, schema: SCHEMA }),
    ).toContain('"required"');
  });
});

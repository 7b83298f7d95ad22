import { MAX_POLICY_HOST_BYTES, MAX_POLICY_REASON_BYTES } from '@exec-server/protocol';
import { describe, expect, it } from 'vitest';
import {
  ANSWER_GRACE_MS,
  ClientDecider,
  MAX_OPEN_QUESTIONS,
  type SendQuestion,
} from '../../src/network-proxy/ask-client.js';
import type { AccessRequest } from '../../src/network-proxy/decision.js';

const TARGET = { protocol: 'http', host: 'example.com', port: 80 } as const;
const NO = { decision: 'deny', source: 'decider', reason: 'not_allowed' };

const decider = (send: SendQuestion) =>
  new ClientDecider({ send, timeoutMs: 100, signal: new AbortController().signal });

describe('answers', () => {
  it.each([
    ['allow', { type: 'allow' }, undefined],
    ['deny', { type: 'deny', reason: 'why' }, { decision: 'deny', source: 'decider', reason: 'why' }],
    ['ask', { type: 'ask', reason: 'why' }, { decision: 'ask', source: 'decider', reason: 'why' }],
    ['no reason', { type: 'deny', reason: '' }, { ...NO, reason: 'policy_denied' }],
    ['a control character', { type: 'deny', reason: 'a\nb' }, NO],
    [
      'a reason of a byte less',
      { type: 'ask', reason: 'x'.repeat(MAX_POLICY_REASON_BYTES - 1) },
      { decision: 'ask' },
    ],
    [
      'a reason of the limit',
      { type: 'ask', reason: 'é'.repeat(MAX_POLICY_REASON_BYTES / 2) },
      { decision: 'ask' },
    ],
    ['one byte more', { type: 'ask', reason: `${'é'.repeat(MAX_POLICY_REASON_BYTES / 2)}x` }, NO],
    ['something else', { type: 'perhaps' }, NO],
    ['nothing', undefined, NO],
  ])('%s', async (_name, decision, expected) => {
    const denial = await decider(() => Promise.resolve({ decision })).decide(TARGET);
    if (expected === undefined) expect(denial).toBeUndefined();
    else expect(denial).toMatchObject(expected);
  });

  it('an error is a denial', async () => {
    expect(await decider(() => Promise.reject(new Error('gone'))).decide(TARGET)).toEqual(NO);
  });
});

describe('questions', () => {
  it('carry the target alone, and leave time for the way', async () => {
    const seen: unknown[] = [];
    const send: SendQuestion = async (target, { timeoutMs }) => {
      seen.push(target, timeoutMs);
      return { decision: { type: 'allow' } };
    };
    const request: AccessRequest = { ...TARGET, method: 'GET', client: 'x' };
    await decider(send).decide(request);
    expect(seen).toEqual([TARGET, 100 + ANSWER_GRACE_MS]);
  });

  it.each([
    ['', false],
    ['a'.repeat(MAX_POLICY_HOST_BYTES - 1), true],
    ['a'.repeat(MAX_POLICY_HOST_BYTES), true],
    ['a'.repeat(MAX_POLICY_HOST_BYTES + 1), false],
    ['a b', false],
    ['a\u0007', false],
  ])('about %j are asked: %s', async (host, asked) => {
    let questions = 0;
    const send: SendQuestion = async () => {
      questions++;
      return { decision: { type: 'allow' } };
    };
    const denial = await decider(send).decide({ ...TARGET, host });
    expect([questions, denial]).toEqual(asked ? [1, undefined] : [0, NO]);
  });

  it('beyond the limit are denied until one is answered', async () => {
    const answers: ((answer: unknown) => void)[] = [];
    const asking = decider(() => new Promise((resolve) => answers.push(resolve)));
    const open = Array.from({ length: MAX_OPEN_QUESTIONS }, () => asking.decide(TARGET));
    expect(await asking.decide(TARGET)).toEqual(NO);
    answers[0]?.({ decision: { type: 'allow' } });
    expect(await open[0]).toBeUndefined();
    void asking.decide(TARGET);
    expect(answers).toHaveLength(MAX_OPEN_QUESTIONS + 1);
  });
});

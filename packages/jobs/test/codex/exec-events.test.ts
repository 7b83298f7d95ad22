import { describe, expect, it } from 'vitest';
import { describeTurnFailure, endTurn, NO_EVENTS, takeExecEvent } from '../../src/codex/exec-events.js';

const STARTED = [{ type: 'thread.started', thread_id: 't' }, { type: 'turn.started' }];
const message = (text: string) => ({
  type: 'item.completed',
  item: { id: 'item_0', type: 'agent_message', text },
});
const COMPLETED = { type: 'turn.completed', usage: {} };
const play = (events: readonly unknown[]) => events.reduce(takeExecEvent, NO_EVENTS);

describe('the events of codex exec', () => {
  it.each<[string, readonly unknown[], number | undefined, object]>([
    [
      'completed with code 0',
      [message('a'), message('b'), COMPLETED],
      0,
      { kind: 'completed', lastAgentMessage: 'b' },
    ],
    ['completed without a message', [COMPLETED], 0, { kind: 'completed', lastAgentMessage: null }],
    [
      'completed with another code',
      [COMPLETED],
      1,
      { kind: 'failed', error: 'the turn completed, but codex exited with code 1' },
    ],
    [
      'completed without a code',
      [COMPLETED],
      undefined,
      { kind: 'failed', error: 'the turn completed, but codex did not exit by itself' },
    ],
    ['failed', [{ type: 'turn.failed', error: { message: 'no' } }], 1, { kind: 'failed', error: 'no' }],
    [
      'failed, whatever the code',
      [{ type: 'turn.failed', error: { message: 'no' } }],
      0,
      { kind: 'failed', error: 'no' },
    ],
    [
      'failed after an error',
      [{ type: 'error', message: 'e' }, { type: 'turn.failed' }],
      1,
      { kind: 'failed', error: 'e' },
    ],
    ['failed without words', [{ type: 'turn.failed' }], 1, { kind: 'failed', error: 'turn failed' }],
    ['without an end, code 0', [message('a')], 0, { kind: 'interrupted' }],
    ['without an end, code 1', [message('a')], 1, { kind: 'interrupted' }],
    [
      'of which a sub-agent shut down',
      [{ type: 'shutdown.complete', thread_id: 's' }, message('a'), COMPLETED],
      0,
      { kind: 'completed', lastAgentMessage: 'a' },
    ],
    [
      'that lagged',
      [{ type: 'lagged', skipped: 7 }, message('a'), COMPLETED],
      0,
      { kind: 'completed', lastAgentMessage: 'a' },
    ],
    [
      'with what is not known',
      [null, 7, 'x', [], { type: 'new' }, { type: 'item.completed' }, COMPLETED],
      0,
      { kind: 'completed', lastAgentMessage: null },
    ],
  ])('a turn %s', (_, events, exitCode, end) => {
    expect(endTurn(play([...STARTED, ...events]), exitCode)).toEqual(end);
  });

  it('tells that the stream lagged, within bounds', () => {
    const lag = { type: 'lagged', skipped: 7 };
    expect(play([lag]).warnings).toEqual(['the stream lagged: 7 events are missing']);
    expect(play(Array(100).fill(lag)).warnings).toHaveLength(20);
  });

  it('has words for what is no success', () => {
    expect(describeTurnFailure({ kind: 'interrupted' })).toBe('turn interrupted');
    expect(describeTurnFailure({ kind: 'failed', error: 'no' })).toBe('no');
    expect(describeTurnFailure({ kind: 'completed', lastAgentMessage: null })).toBeUndefined();
  });
});

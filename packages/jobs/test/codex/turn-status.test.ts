import { describe, expect, it } from 'vitest';
import { mapTurnCompleted, type TurnCompletedNotification } from '../../src/codex/turn-status.js';

const AWAITED = { threadId: 'thread', turnId: 'turn' };
const notify = (
  status: TurnCompletedNotification['turn']['status'],
  more: Partial<TurnCompletedNotification['turn']> = {},
  threadId = 'thread',
): TurnCompletedNotification => ({ threadId, turn: { id: 'turn', status, ...more } });

describe('mapTurnCompleted', () => {
  it.each([
    ['completed', notify('completed'), { kind: 'completed', lastAgentMessage: null }],
    ['failed', notify('failed'), { kind: 'failed', error: 'turn failed' }],
    [
      'failed, with its words',
      notify('failed', { error: { message: 'no' } }),
      { kind: 'failed', error: 'no' },
    ],
    [
      'failed, with details',
      notify('failed', { error: { message: 'no', additionalDetails: 'never' } }),
      { kind: 'failed', error: 'no (never)' },
    ],
    ['interrupted', notify('interrupted'), { kind: 'interrupted' }],
    ['in progress', notify('inProgress'), undefined],
    ['of another thread', notify('completed', {}, 'sub-agent'), undefined],
    ['of another turn', notify('completed', { id: 'earlier' }), undefined],
  ])('a turn that is %s', (_, notification, end) => {
    expect(mapTurnCompleted(notification, AWAITED)).toEqual(end);
  });
});

import { describe, expect, it } from 'vitest';
import { ANONYMOUS_PRINCIPAL } from '../../src/listen/principal.js';
import { ClosedProcesses } from '../../src/process/closed-processes.js';
import { ProcessRegistry } from '../../src/process/process-registry.js';
import { FakeClock } from '../support/fake-clock.js';

const session = { id: 's', principal: ANONYMOUS_PRINCIPAL };

function open() {
  const clock = new FakeClock();
  const registry = new ProcessRegistry();
  const closed = new ClosedProcesses(registry, clock, { retentionMs: 30_000, outputBytes: 100 });
  const add = (id: string, bytes: number) => closed.add(registry.reserve(session, id)!, bytes);
  const known = () => registry.ofSession('s').map(({ processId }) => processId);
  return { clock, closed, add, known };
}

describe('closed processes', () => {
  it('are forgotten when their time is up, to the millisecond', () => {
    const { clock, closed, add, known } = open();
    add('p', 10);
    clock.advance(29_999);
    expect(known()).toEqual(['p']);
    clock.advance(1);
    expect(known()).toEqual([]);
    expect(closed.bytes).toBe(0);
  });

  it.each([
    [59, ['a', 'b']],
    [60, ['a', 'b']],
    [61, ['b']],
  ])('with 40 of 100 bytes kept, %i more leave %o', (bytes, left) => {
    const { add, known } = open();
    add('a', 40);
    add('b', bytes);
    expect(known()).toEqual(left);
  });

  it('that had to go early leave no timer behind', () => {
    const { clock, add } = open();
    add('a', 100);
    add('b', 100);
    expect(clock.pendingTimers).toBe(1);
  });
});

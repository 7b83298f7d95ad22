import { describe, expect, it } from 'vitest';
import { type LaneLimits, Lanes, type TurnShare } from '../../src/connection/lanes.js';

const settled = () => new Promise((resolve) => setImmediate(resolve));

/** A request that runs until the test ends it. */
function openJob() {
  let end!: () => void;
  const over = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { over, end };
}

/** A connection whose other side reads when the test says so. */
class FakeQueue {
  writable = true;
  #wake: (() => void)[] = [];
  whenWritable(): Promise<void> {
    return this.writable ? Promise.resolve() : new Promise((resolve) => this.#wake.push(resolve));
  }
  catchUp(): void {
    this.writable = true;
    for (const wake of this.#wake.splice(0)) wake();
  }
}

const ENDLESS_TURN: TurnShare = { hasTime: true, deferFirst() {} };

function open(limits: Partial<LaneLimits> = {}, turns = ENDLESS_TURN) {
  const queue = new FakeQueue();
  const lanes = new Lanes(
    { concurrentRequests: 2, pendingRequests: 5, pendingRequestBytes: 100, ...limits },
    queue,
    turns,
  );
  return { queue, lanes };
}

describe('ordinary requests', () => {
  it('start in arrival order, no more at once than allowed', async () => {
    const { lanes } = open();
    const started: number[] = [];
    const jobs = [1, 2, 3].map((name) => {
      const job = openJob();
      lanes.submit('ordinary', 1, async () => {
        started.push(name);
        await job.over;
      });
      return job;
    });
    expect(started).toEqual([1, 2]);
    jobs[1]?.end();
    await settled();
    expect(started).toEqual([1, 2, 3]);
  });

  it('give their place up while they wait', async () => {
    const { lanes } = open({ concurrentRequests: 1 });
    const wait = openJob();
    const trace: string[] = [];
    lanes.submit('ordinary', 1, async (place) => {
      await place.park(wait.over);
      trace.push('waiter done');
    });
    lanes.submit('ordinary', 1, async () => void trace.push('next'));
    await settled();
    expect(trace).toEqual(['next']);
    wait.end();
    await settled();
    expect(trace).toEqual(['next', 'waiter done']);
    expect(lanes.pending).toBe(0);
  });

  it('take their place again before they answer, ahead of newcomers', async () => {
    const { lanes } = open({ concurrentRequests: 1 });
    const [wait, busy] = [openJob(), openJob()];
    const trace: string[] = [];
    lanes.submit('ordinary', 1, async (place) => {
      await place.park(wait.over);
      trace.push('waiter');
    });
    lanes.submit('ordinary', 1, () => busy.over);
    lanes.submit('ordinary', 1, async () => void trace.push('newcomer'));
    wait.end();
    await settled();
    expect(trace).toEqual([]);
    busy.end();
    await settled();
    expect(trace).toEqual(['waiter', 'newcomer']);
  });

  it('a wait that fails gives the place back and fails the job', async () => {
    const { lanes } = open({ concurrentRequests: 1 });
    let caught: unknown;
    lanes.submit('ordinary', 1, async (place) => {
      await place.park(Promise.reject(new Error('gone'))).catch((error: unknown) => {
        caught = error;
      });
    });
    await settled();
    expect(caught).toEqual(new Error('gone'));
    expect(lanes.pending).toBe(0);
  });

  it('do not start while the other side does not take answers', async () => {
    const { lanes, queue } = open();
    queue.writable = false;
    const started: string[] = [];
    lanes.submit('ordinary', 1, async () => void started.push('ordinary'));
    lanes.submit('control', 1, async () => void started.push('control'));
    await settled();
    expect(started).toEqual(['control']);
    queue.catchUp();
    await settled();
    expect(started).toEqual(['control', 'ordinary']);
  });
});

it('control requests start at once, whatever runs', () => {
  const { lanes } = open({ concurrentRequests: 1 });
  lanes.submit('ordinary', 1, () => openJob().over);
  let started = false;
  lanes.submit('control', 1, async () => {
    started = true;
  });
  expect(started).toBe(true);
});

describe('limits', () => {
  it.each([
    [4, true],
    [5, false],
  ])('with %i of five pending one more is taken: %s', (pending, taken) => {
    const { lanes } = open();
    for (let index = 0; index < pending; index++) lanes.submit('ordinary', 1, () => openJob().over);
    expect(lanes.submit('ordinary', 1, async () => {})).toBe(taken);
  });

  it('a full ordinary lane leaves room for control requests', () => {
    const { lanes } = open({ pendingRequests: 1 });
    lanes.submit('ordinary', 1, () => openJob().over);
    expect(lanes.submit('control', 1, () => openJob().over)).toBe(true);
    expect(lanes.submit('control', 1, async () => {})).toBe(false);
  });

  it.each([
    [49, true],
    [50, true],
    [51, false],
  ])('with 50 of 100 bytes pending, %i more are taken: %s', (bytes, taken) => {
    const { lanes } = open();
    lanes.submit('ordinary', 50, () => openJob().over);
    expect(lanes.submit('ordinary', bytes, async () => {})).toBe(taken);
  });

  it('a request larger than the limit is taken alone', () => {
    const { lanes } = open();
    expect(lanes.submit('ordinary', 1_000, async () => {})).toBe(true);
  });
});

describe('requests beyond the share of a turn', () => {
  /** Turns in which so many requests may begin. */
  function openTurns(perTurn: number) {
    let left = perTurn;
    let next: (() => void) | undefined;
    const turns: TurnShare = {
      get hasTime() {
        return left-- > 0;
      },
      deferFirst(work) {
        expect(next, 'deferred twice').toBeUndefined();
        next = work;
      },
    };
    const turn = () => {
      left = perTurn;
      const work = next;
      next = undefined;
      work?.();
    };
    return { turns, turn };
  }

  it.each([
    [2, 2, 0],
    [3, 3, 0],
    [4, 3, 1],
  ])('of %d, with time for 3, %d begin at once and %d in the next', (count, now, later) => {
    const { turns, turn } = openTurns(3);
    const { lanes } = open({ concurrentRequests: 10, pendingRequests: 10 }, turns);
    const started: number[] = [];
    for (let name = 0; name < count; name++) lanes.submit('ordinary', 1, async () => void started.push(name));
    expect(started).toHaveLength(now);
    turn();
    expect(started).toEqual(Array.from({ length: now + later }, (_, index) => index));
  });

  it('do not keep a control request from beginning', () => {
    const { turns } = openTurns(0);
    const { lanes } = open({}, turns);
    const started: string[] = [];
    lanes.submit('ordinary', 1, async () => void started.push('ordinary'));
    lanes.submit('control', 1, async () => void started.push('control'));
    expect(started).toEqual(['control']);
  });
});

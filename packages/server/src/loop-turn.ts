import { setImmediate } from 'node:timers/promises';

/** Longest that work which others make large goes on before everybody else gets a turn, in milliseconds. */
const TURN_MS = 4;
/** Steps between two looks at the time, which cost more than most steps. */
const STEPS_PER_LOOK = 16;

/** Keeps long work from holding up the loop: it asks after every step whether its turn is over. */
export class LoopTurn {
  #steps = 0;
  #since = performance.now();
  #isOver = false;
  #pause: Promise<void> | undefined;

  /** Whether others have waited long enough. Then {@link pause} is next, for everybody who shares this turn. */
  get isOver(): boolean {
    return this.isOverAfter(1);
  }

  /** The same after work that was as much as so many steps. */
  isOverAfter(steps: number): boolean {
    this.#steps += steps;
    if (this.#isOver || this.#steps < STEPS_PER_LOOK) return this.#isOver;
    this.#steps = 0;
    this.#isOver = performance.now() - this.#since >= TURN_MS;
    return this.#isOver;
  }

  /** Resolves when everybody else has had a turn, for all who share this one at the same time. */
  pause(): Promise<void> {
    this.#pause ??= setImmediate().then(() => {
      this.#since = performance.now();
      this.#isOver = false;
      this.#pause = undefined;
    });
    return this.#pause;
  }
}

/** Work in steps: each `yield` is a place where it may pause. */
export type Steps<T> = Generator<void, T, void>;

/** What is known already, or will be. */
export type Known<T> = T | Promise<T>;

/** Steps that are taken at once, however long others let them wait: whether work is small does not depend on that. */
const STEPS_AT_ONCE = 1_024;

/**
 * Does small work at once, and what is left of large work in later turns of the loop.
 * @param isLarge whether that is known beforehand: then nothing is done in the turn that brought the work
 */
export function runInTurns<T>(steps: Steps<T>, isLarge = false): Known<T> {
  const turn = new LoopTurn();
  if (isLarge) return turn.pause().then(() => finish(steps, turn));
  for (let taken = 0; taken < STEPS_AT_ONCE; taken++) {
    const step = steps.next();
    if (step.done) return step.value;
  }
  return finish(steps, turn);
}

async function finish<T>(steps: Steps<T>, turn: LoopTurn): Promise<T> {
  for (;;) {
    if (turn.isOver) await turn.pause();
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** Runs a task for each item, some at a time, and gives the results in the order of the items. */
export async function mapInTurns<T, R>(
  items: readonly T[],
  concurrency: number,
  task: (item: T) => Promise<R>,
): Promise<R[]> {
  const turn = new LoopTurn();
  const results: R[] = [];
  let next = 0;
  const work = async () => {
    for (let index = next++; index < items.length; index = next++) {
      results[index] = await task(items[index]!);
      if (turn.isOver) await turn.pause();
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, work));
  return results;
}

/** Goes on with what is known: at once if it is known already, so that small work keeps its place among others. */
export function whenKnown<T, R>(value: Known<T>, next: (value: T) => Known<R>): Known<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}

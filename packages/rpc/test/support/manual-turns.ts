import { SharedTurn, WorkSlices } from '../../src/index.js';

/** Slices of a loop whose time and turns the test moves. */
export function openManualTurns(turnMs = 4) {
  let now = 0;
  const next: (() => void)[] = [];
  const shared = new SharedTurn(turnMs);
  const open = () =>
    new WorkSlices({ turn: shared, now: () => now, nextTurn: (callback) => void next.push(callback) });
  /** Calls back those who asked for it; false when nobody did. */
  const callBack = (): boolean => {
    const due = next.splice(0);
    for (const callback of due) callback();
    return due.length > 0;
  };
  return {
    slices: open(),
    shared,
    open,
    callBack,
    pass: (ms: number) => {
      now += ms;
    },
    /** Everybody who waits for the next turn has it: what was begun outside of one is called back twice before. */
    turn: (): boolean => {
      const some = callBack();
      return callBack() || some;
    },
  };
}

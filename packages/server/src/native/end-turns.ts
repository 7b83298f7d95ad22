import { SharedTurn, WorkSlices } from '@exec-server/rpc';

/** Longest time that ends take of a turn of the event loop, in milliseconds, however many are due at once. */
const TURN_MS = 4;

/** Ends belong to the process as a whole: one look at its processes serves those of all servers in it. */
const slices = new WorkSlices({
  turn: new SharedTurn(TURN_MS),
  now: () => performance.now(),
  nextTurn: setImmediate,
});

/** Takes a step of an end, now or as soon as the ends before have left time for it. */
export function inTurn<Result>(step: () => Result): Promise<Result> {
  return new Promise((resolve, reject) => {
    slices.run(() => {
      try {
        resolve(step());
      } catch (error) {
        reject(error);
      }
    });
  });
}

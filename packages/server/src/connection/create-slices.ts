import { SharedTurn, type Transport, WorkSlices } from '@exec-server/rpc';
import type { Clock } from '../clock.js';

/**
 * Longest time that connections with many requests take of a turn of the event loop, in milliseconds; then everybody else
 * has a turn. A request that takes longer by itself is finished.
 */
const TURN_MS = 6;

/** That of this process, whichever server a connection belongs to. */
const sharedTurn = new SharedTurn(TURN_MS);
/** A client in the same process takes its turns of this loop as it likes. */
const endlessTurn = new SharedTurn(Number.POSITIVE_INFINITY);

/** The share of each turn that a connection may take. */
export function createSlices({ framing }: Pick<Transport, 'framing'>, clock: Clock): WorkSlices {
  return new WorkSlices({
    turn: framing === 'memory' ? endlessTurn : sharedTurn,
    now: () => clock.now(),
    nextTurn: setImmediate,
  });
}

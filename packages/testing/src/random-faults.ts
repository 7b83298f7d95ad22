import type { Direction, Fault, FaultAction } from './fault.js';

/** Bounds of a random schedule. */
export interface RandomFaultOptions {
  /** Most connections that meet a fault. @default 4 */
  readonly maxFaults?: number;
  /** Bytes of one direction within which faults strike. @default 24576 to the client, 3072 to the server */
  readonly maxBytes?: Partial<Readonly<Record<Direction, number>>>;
  /** What may happen. @default everything */
  readonly actions?: readonly FaultAction[];
}

const ACTIONS: readonly FaultAction[] = ['cut', 'cutAfter', 'truncate', 'halfClose', 'strand', 'delay'];
const DEFAULT_MAX_BYTES: Readonly<Record<Direction, number>> = { toClient: 24_576, toServer: 3_072 };
const DEFAULT_MAX_FAULTS = 4;
/** Most messages of one direction within which faults strike. */
const MAX_MESSAGES = 24;
const MAX_REFUSED = 2;
const MAX_DELAY_MS = 30;

/** A schedule that the seed alone decides: the first connections meet a fault each, those after them none. */
export function randomFaults(seed: number, options: RandomFaultOptions = {}): Fault[] {
  const random = createRandom(seed);
  const upTo = (most: number) => Math.floor(random() * (most + 1));
  const pick = <T>(from: readonly T[]) => from[upTo(from.length - 1)] as T;
  const count = 1 + upTo((options.maxFaults ?? DEFAULT_MAX_FAULTS) - 1);
  return Array.from({ length: count }, (_, index) => {
    const direction = pick<Direction>(['toClient', 'toServer']);
    const bytes = options.maxBytes?.[direction] ?? DEFAULT_MAX_BYTES[direction];
    return {
      connection: index + 1,
      direction,
      at: pick([{ bytes: upTo(bytes) }, { message: 1 + upTo(MAX_MESSAGES - 1) }]),
      action: pick(options.actions ?? ACTIONS),
      refuse: upTo(MAX_REFUSED),
      delayMs: upTo(MAX_DELAY_MS),
    };
  });
}

/** Numbers from 0 to 1 that follow from the seed (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

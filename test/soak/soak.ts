import { setTimeout as delay } from 'node:timers/promises';
import { type Holdings, MeasuredServer } from './measured-server.js';
import { TRAFFIC } from './traffic.js';

/** Short enough that what is left behind goes while it is waited for, long enough for a slow client to come back. */
const LIMITS = { detachedSessionMs: 6_000, closedProcessRetentionMs: 6_000 };
const SAMPLES = 24;
/** A round takes seconds; one that takes so long waits for something that does not come. */
const STUCK_MS = 120_000;
/** How often a server is asked whether everything has gone, in milliseconds. */
const POLL_INTERVAL_MS = 100;
const MIB = 1024 * 1024;

/** What a soak has come to. */
export interface SoakReport {
  /** Rounds of each kind of traffic. */
  readonly rounds: Readonly<Record<string, number>>;
  readonly samples: readonly Holdings[];
  readonly before: Holdings;
  /** After everything should have gone. */
  readonly after: Holdings;
}

export interface SoakOptions {
  readonly durationMs: number;
  readonly seed: number;
  /** Told now and then. */
  readonly onSample?: (holdings: Holdings, rounds: Readonly<Record<string, number>>) => void;
}

/** Uses one server in all ways at once until the time is over. Throws with the seed of the round that failed. */
export async function soak({ durationMs, seed, onSample }: SoakOptions): Promise<SoakReport> {
  await using server = await MeasuredServer.start(LIMITS);
  const names = Object.keys(TRAFFIC);
  // What a server opens once, such as its guardian, it opens here.
  for (const name of names) await playRound(name, server.url, seed);
  await untilIdle(server);
  const before = await server.measure();

  const rounds: Record<string, number> = Object.fromEntries(names.map((name) => [name, 0]));
  const samples: Holdings[] = [];
  const until = performance.now() + durationMs;
  const stop = new AbortController();
  const play = async (name: string, index: number) => {
    for (let round = 1; performance.now() < until && !stop.signal.aborted; round++) {
      await playRound(name, server.url, seed + round * names.length + index);
      rounds[name] = round;
    }
  };
  const watch = async () => {
    for (let count = 0; count < SAMPLES; count++) {
      await delay(durationMs / SAMPLES, undefined, { signal: stop.signal }).catch(() => {});
      if (stop.signal.aborted) return;
      const holdings = await server.measure();
      samples.push(holdings);
      onSample?.(holdings, rounds);
    }
  };
  try {
    await Promise.all([...names.map(play), watch()]);
  } finally {
    stop.abort();
  }
  await untilIdle(server);
  return { rounds, samples, before, after: await server.measure() };
}

/** Growth of the memory in use from the second quarter of a soak to its last, in bytes. */
export function measureGrowth(samples: readonly Holdings[], of: 'heapBytes' | 'residentBytes'): number {
  const quarter = Math.floor(samples.length / 4);
  const median = (part: readonly Holdings[]) =>
    part.map((holdings) => holdings[of]).sort((a, b) => a - b)[Math.floor(part.length / 2)] ?? 0;
  return median(samples.slice(-quarter)) - median(samples.slice(quarter, 2 * quarter));
}

/** One line about a moment of a soak. */
export function describeHoldings(holdings: Holdings): string {
  const { residentBytes, heapBytes, ...counts } = holdings;
  const memory = { resident: residentBytes, heap: heapBytes };
  const inMib = Object.entries(memory).map(([name, bytes]) => `${name} ${Math.round(bytes / MIB)} MiB`);
  return [...inMib, ...Object.entries(counts).map(([name, count]) => `${name} ${count}`)].join(', ');
}

async function playRound(name: string, url: string, seed: number): Promise<void> {
  const ended = new AbortController();
  const stuck = delay(STUCK_MS, undefined, { signal: ended.signal }).then(() => {
    throw new Error(`not over after ${STUCK_MS / 1000} s`);
  });
  try {
    await Promise.race([TRAFFIC[name]?.(url, seed), stuck]);
  } catch (cause) {
    throw new Error(`${name} with seed ${seed}: ${String(cause)}`, { cause });
  } finally {
    ended.abort();
    await stuck.catch(() => {});
  }
}

/** Sessions, processes and connections go with time; whoever waits for that ends with the test that waits. */
async function untilIdle(server: MeasuredServer): Promise<void> {
  for (;;) {
    const { connections, sessions, processes } = await server.measure();
    if (connections + sessions + processes === 0) return;
    await delay(POLL_INTERVAL_MS);
  }
}

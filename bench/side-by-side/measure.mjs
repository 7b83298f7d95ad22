// Taking time.
import { Samples } from './statistics.mjs';

export async function measureSeconds(work) {
  const started = process.hrtime.bigint();
  await work();
  return Number(process.hrtime.bigint() - started) / 1e9;
}

/**
 * Milliseconds of `work`, again and again, one after the other: `atLeast` times, and on until `forMs` have passed or it
 * was done `atMost` times. What is quick is sampled more often than what is slow, so that a p99 means something.
 */
export async function sampleMs(work, { atLeast, atMost, forMs }) {
  const times = [];
  const end = performance.now() + forMs;
  while (times.length < atLeast || (times.length < atMost && performance.now() < end))
    times.push(1000 * (await measureSeconds(() => work(times.length))));
  return new Samples(times);
}

/** How often {@link sampleMs} looks: whole runs take `atLeast` times at least, others a share of it. */
export function samplesOf(atLeast, scale) {
  const least = Math.max(2, Math.ceil(atLeast * scale));
  return { atLeast: least, atMost: 4 * least, forMs: 2000 * scale };
}

/** Keeps `width` runs of `work` going until `total` are done. */
export async function runMany(total, width, work) {
  let begun = 0;
  const worker = async () => {
    while (begun < total) {
      const index = begun++;
      await work(index);
    }
  };
  await Promise.all(Array.from({ length: width }, worker));
}

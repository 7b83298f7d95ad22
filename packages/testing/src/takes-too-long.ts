/** A text of so many characters for each time that a plain search may cost shows what grows with its square. */
const CHARACTERS_PER_TIME = 40;
/** Measurements of which the quickest counts: others may have used the processor during the rest. */
const MEASUREMENTS = 3;
/** Searches that are measured together, because the clock is too coarse for one. */
const PLAIN_SEARCHES = 100;
/** Shorter texts are measured as one of so many characters, for the same reason. */
const SHORTEST_MEASURED = 4_000;

/**
 * Whether work on a text takes more time than its length explains, wherever the test runs: it is compared with a search
 * through as many characters, in time of the processor. What grows with the square of the text takes half as many times
 * that of the search as the text has characters. Give a text of 10,000 to a single expression, and a longer one to work
 * that does much with every character.
 */
export function takesTooLong(work: (text: string) => void, text: string): boolean {
  const times = Math.max(text.length, SHORTEST_MEASURED) / CHARACTERS_PER_TIME;
  const allowed = times * measurePlainSearch(text.length);
  const started = performance.now();
  work(text);
  if (performance.now() - started <= allowed) return false;
  return measure(() => work(text)) > allowed;
}

const plainSearches = new Map<number, number>();

function measurePlainSearch(length: number): number {
  const measured = Math.max(length, SHORTEST_MEASURED);
  const known = plainSearches.get(measured);
  if (known !== undefined) return known;
  const text = 'a'.repeat(measured);
  // Looks at every character, and matches none.
  const expression = /[0-9]x/;
  const ms = measure(() => {
    for (let time = 0; time < PLAIN_SEARCHES; time++) expression.test(text);
  });
  plainSearches.set(measured, ms / PLAIN_SEARCHES);
  return ms / PLAIN_SEARCHES;
}

/** Milliseconds of the processor. */
function measure(work: () => void): number {
  const all = Array.from({ length: MEASUREMENTS }, () => {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  });
  return Math.min(...all);
}

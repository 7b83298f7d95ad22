/** Directories that are looked through at a time. */
export const CONCURRENT_ROOTS = 8;

/** Runs a task for each item, some at a time, and gives the results in the order of the items. */
export async function mapInOrder<T, R>(
  items: readonly T[],
  concurrency: number,
  task: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const work = async () => {
    for (let index = next++; index < items.length; index = next++) results[index] = await task(items[index]!);
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, work));
  return results;
}

/** Whether `event` settles before the time is over; how does not matter. */
export async function settlesWithin(event: Promise<unknown>, timeMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const timeIsOver = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), timeMs);
  });
  const settled = event.then(
    () => true,
    () => true,
  );
  try {
    return await Promise.race([settled, timeIsOver]);
  } finally {
    clearTimeout(timer);
  }
}

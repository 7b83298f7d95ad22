// Processes on the servers that are compared.

const CWD = 'file:///tmp';
let count = 0;

/** Parameters of `process/start` under an id of its own. */
export function describeStart(argv, more = {}) {
  count += 1;
  return { processId: `bench-${count}`, argv, cwd: CWD, env: { PATH: '/usr/bin:/bin' }, tty: false, ...more };
}

export const SHORT_LINES = 20_000;

/** A shell that writes so many lines, each by itself. */
export function writeLines(lines) {
  return ['/bin/sh', '-c', `i=0; while [ $i -lt ${lines} ]; do echo "line $i"; i=$((i+1)); done`];
}

/** Starts a process and resolves when its output is complete. */
export async function runToEnd(client, argv, more) {
  const params = describeStart(argv, more);
  const closed = client.next('process/closed', ({ processId }) => processId === params.processId);
  await client.call('process/start', params);
  await closed;
}

/** Ends a process and resolves when its output is complete. */
export async function endProcess(client, { processId }) {
  const closed = client.next('process/closed', (params) => params.processId === processId);
  await client.call('process/terminate', { processId });
  await closed;
}

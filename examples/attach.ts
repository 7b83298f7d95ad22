import { connect } from '@exec-server/client';

const url = process.argv[2] ?? 'ws://127.0.0.1:7711';

let cursor = 0;
{
  await using starter = await connect(url);
  const job = await starter.spawn(['sh', '-c', 'echo first; read -r go; echo "second: $go"'], {
    id: 'build-42',
    stdin: 'pipe',
    tags: { role: 'build' },
    keepAliveMs: 3_600_000,
  });
  await job.waitFor({ line: 'first' });
  cursor = job.cursor;
  job.detach();
} // the connection is gone; the process is not

await using later = await connect(url);
for await (const { id, state, tags } of later.processes.list({ tags: { role: 'build' }, scope: 'all' }))
  console.log(id, state, tags.role);

const again = await later.attach('build-42', { from: cursor });
await again.stdin.write('go on\n');
for await (const event of again.events({ from: cursor }))
  if (event.type === 'output') process.stdout.write(event.data);
console.log(await again.wait());

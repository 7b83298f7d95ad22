import { connect } from '@exec-server/client';

await using machine = await connect(process.argv[2] ?? 'ws://127.0.0.1:7711');

const script = 'echo ready; while read -r line; do echo "got $line"; done; echo bye';
{
  await using echo = await machine.spawn(['sh', '-c', script], { stdin: 'pipe' });
  await echo.waitFor({ line: 'ready', timeoutMs: 10_000 }); // or a port, or silence
  await echo.stdin.write('one\n');
  await echo.stdin.end();
  for await (const line of echo.lines('stdout')) console.log(line);
  console.log(await echo.wait());
}

{
  await using sleeper = await machine.spawn(['sh', '-c', 'sleep 600 & sleep 600']);
  const { wasRunning, outcome } = await sleeper.terminate({ graceMs: 5_000 }); // resolves when all of it is gone
  console.log(wasRunning, outcome.kind === 'signaled' && outcome.signal);
} // leaving the block would have terminated it as well

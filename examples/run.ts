import { connect, ExitError, OutputTruncatedError } from '@exec-server/client';

await using machine = await connect(process.argv[2] ?? 'ws://127.0.0.1:7711');

// An exit code other than 0 is a result like any other …
const listing = await machine.run(['ls', '/nowhere'], { env: { LC_ALL: 'C' } });
console.log(listing.outcome.kind, listing.exitCode !== 0, listing.stderr.trimmed().includes('/nowhere'));

// … unless `check` makes it an error, with the whole result in it.
try {
  await machine.run(['sh', '-c', 'echo half done; exit 3'], { check: true });
} catch (error) {
  if (!(error instanceof ExitError)) throw error;
  console.log(error.result.exitCode, error.result.stdout.trimmed());
}

// The server keeps the time, ends everything the command started, and says so.
const slow = await machine.run(['sh', '-c', 'echo begun; sleep 600'], { timeoutMs: 200, graceMs: 100 });
console.log(slow.timedOut, slow.stdout.trimmed());

// For the shell of the other side: a command line, or a template with every value quoted for it.
console.log((await machine.sh('seq 3 | tail -1', { cwd: '/' })).stdout.trimmed());
const name = "it's here";
const { stdout } = await machine.sh`printf '%s\n' ${name} ${['a', 'b c']} | wc -l`;
console.log(stdout.trimmed());

// Output as it comes; the run waits for callbacks that return a promise.
await machine.run(['echo', 'heard'], { onStdout: (text) => process.stdout.write(text) });

// Defaults for everything that follows.
const confined = machine.with({ cwd: '/tmp', env: { CI: '1' }, sandbox: 'read-only' });
console.log((await confined.sh('echo $CI; touch /tmp/x 2>/dev/null || echo confined')).stdout.lines());

// Output is kept from both ends. A part is never passed for the whole unless that was chosen.
const ends = { headBytes: 1000, tailBytes: 1000 };
const much = await machine.run(['seq', '1000000'], { output: ends });
console.log(much.stdout.totalBytes, much.stdout.droppedBytes);
try {
  much.stdout.text();
} catch (error) {
  if (error instanceof OutputTruncatedError) console.log(error.code, error.tail.length);
}
const shortened = await machine.run(['seq', '1000000'], { output: { ...ends, truncate: 'middle' } });
console.log(shortened.stdout.lines().at(-1));

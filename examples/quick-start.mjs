import { connect } from '@exec-server/client';

const machine = await connect(process.argv[2] ?? 'ws://127.0.0.1:7711');
try {
  const result = await machine.run(['sort', '-r'], { input: 'one\ntwo\n', timeoutMs: 10_000 });
  console.log(result.exitCode, result.stdout.lines());
} finally {
  await machine.close();
}

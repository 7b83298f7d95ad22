import { connect } from '@exec-server/client';
import { createUnifiedExec, UNIFIED_EXEC_TOOLS } from '@exec-server/client/unified-exec';

const machine = await connect(process.argv[2] ?? 'ws://127.0.0.1:7711');
const exec = createUnifiedExec(machine, { outputLimitBytes: 10_000 });
try {
  // Give these to your model; what it calls goes to `callTool`, and the text that comes back to the model.
  console.log(UNIFIED_EXEC_TOOLS.map((tool) => tool.name).join(', '));
  console.log(await exec.callTool('exec_command', '{"cmd": "seq 1 200", "max_output_tokens": 10}'));

  // The same two calls for your own code.
  const asked = await exec.execCommand({ cmd: 'read name; echo "hello $name"', tty: true, yieldTimeMs: 250 });
  const answered = await exec.writeStdin({
    sessionId: asked.sessionId,
    chars: 'world\n',
    yieldTimeMs: 30_000,
  });
  console.log(answered.exitCode, answered.output.replaceAll('\r\n', ' '));
} finally {
  await exec.close();
  await machine.close();
}

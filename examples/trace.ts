import { AsyncLocalStorage } from 'node:async_hooks';
import { connect, type TraceContext } from '@exec-server/client';

const current = new AsyncLocalStorage<TraceContext>();

await using machine = await connect(process.argv[2] ?? 'ws://127.0.0.1:7711', {
  trace: () => current.getStore(),
});

const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
await current.run({ traceparent }, async () => {
  const { stdout } = await machine.run(['sh', '-c', 'echo "$TRACEPARENT"'], { traceEnv: true });
  console.log(stdout.trimmed());
});

import { createProcessIo, flushOutput } from './command-io.js';
import { runCommandLine } from './run-command-line.js';

async function main(): Promise<void> {
  const io = createProcessIo();
  const code = await runCommandLine(process.argv.slice(2), io);
  await flushOutput(io);
  io.exit(code);
}

void main();

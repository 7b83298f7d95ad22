import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { SpawnedCommand, startServer } from '@exec-server/testing';
import { expect, test } from 'vitest';
import { ROOT } from './source-files.js';

const EXAMPLE = 'examples/raw-websocket.mjs';
const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');

test('README.md shows the example as it is', () => {
  const code = readFileSync(join(ROOT, EXAMPLE), 'utf8');
  expect(readme).toContain(`\`\`\`js\n// ${EXAMPLE}\n${code}\`\`\``);
});

test('the example runs', async () => {
  await using server = await startServer();
  const example = new SpawnedCommand({
    command: [process.execPath, join(ROOT, EXAMPLE)],
    args: [server.url],
  });
  const [output, exit] = await Promise.all([text(example.stdout), example.exited]);
  expect(example.stderr()).toBe('');
  // A process may have exited before its last output is read.
  expect(output.split('\n').sort()).toEqual(['', 'exit code 0', 'hello from the other side']);
  expect(exit).toEqual({ code: 0, signal: null });
});

test('README.md lists the options that the command has', async () => {
  const help = new SpawnedCommand({ args: ['serve', '--help'] });
  const [output] = await Promise.all([text(help.stdout), help.exited]);
  const offered = [...output.matchAll(/^ +(--[a-z0-9-]+(?: <[A-Z]+>)?)/gm)].map(([, flags]) => flags);
  const listed = [...readme.matchAll(/^\| `(--[^`]+)`/gm)].map(([, flags]) => flags);
  expect(listed).toEqual(offered);
});

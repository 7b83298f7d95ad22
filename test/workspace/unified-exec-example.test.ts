import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { SpawnedCommand, startServer } from '@exec-server/testing';
import { expect, test } from 'vitest';
import { ROOT } from './source-files.js';

const EXAMPLE = 'examples/unified-exec.mjs';

test('docs/unified-exec.md shows the example as it is', () => {
  const code = readFileSync(join(ROOT, EXAMPLE), 'utf8');
  const page = readFileSync(join(ROOT, 'docs/unified-exec.md'), 'utf8');
  expect(page).toContain(`\`\`\`js\n// ${EXAMPLE}\n${code}\`\`\``);
});

test('the example runs', async () => {
  await using server = await startServer();
  const example = new SpawnedCommand({
    command: [process.execPath, join(ROOT, EXAMPLE)],
    args: [server.url],
  });
  const [output, exit] = await Promise.all([text(example.stdout), example.exited]);
  expect(example.stderr()).toBe('');
  expect(output).toMatch(/^exec_command, write_stdin\nChunk ID: [0-9a-f]{6}\nWall time: /);
  expect(output).toContain('…163 tokens truncated…');
  expect(output).toMatch(/\n0 world hello world \n$/);
  expect(exit).toEqual({ code: 0, signal: null });
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { SpawnedCommand } from '@exec-server/testing';
import { expect, test } from 'vitest';
import { ROOT } from './source-files.js';

const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');

test('README.md lists the options that the command has', async () => {
  const help = new SpawnedCommand({ args: ['serve', '--help'] });
  const [output] = await Promise.all([text(help.stdout), help.exited]);
  const offered = [...output.matchAll(/^ +(--[a-z0-9-]+(?: <[A-Z]+>)?)/gm)].map(([, flags]) => flags);
  const listed = [...readme.matchAll(/^\| `(--[^`]+)`/gm)].map(([, flags]) => flags);
  expect(listed).toEqual(offered);
});

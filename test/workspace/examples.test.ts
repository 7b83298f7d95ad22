import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { SpawnedCommand, startServer } from '@exec-server/testing';
import { transform } from 'esbuild';
import { describe, expect, test } from 'vitest';
import { ROOT } from './source-files.js';

const EXAMPLES = join(ROOT, 'examples');
/** Below node_modules, so that the packages are found as an installed program finds them. */
const COMPILED = join(ROOT, 'node_modules/.cache/exec-server-examples');

/** What each example prints, lines in any order: an exit may be seen before the last output. */
const EXPECTED: Readonly<Record<string, readonly string[] | RegExp>> = {
  'raw-websocket.mjs': ['exit code 0', 'hello from the other side'],
  'quick-start.mjs': ["0 [ 'two', 'one' ]"],
  'run.ts': [
    'exited true true',
    '3 half done',
    'true begun',
    '3',
    '3',
    'heard',
    "[ '1', 'confined' ]",
    '6888896 6886896',
    'output_truncated 1000',
    '1000000',
  ],
  'spawn.ts': ['ready', 'got one', 'bye', "{ kind: 'exited', exitCode: 0 }", 'true SIGTERM'],
  'attach.ts': ['build-42 running build', 'second: go on', "{ kind: 'exited', exitCode: 0 }"],
  'terminal.ts': ['200 50 true', "{ kind: 'exited', exitCode: 7 }"],
  'files.ts': ['one line', 'ENOENT', 'true', '1', 'created true', '200 healthy'],
  'in-process.ts': ['from the same process'],
  'trace.ts': ['00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'],
  'jobs.mjs': [
    'one { letters: 3 }',
    'three { letters: 5 }',
    'zero worker exited with code 1',
    'completed: 2 completed, 1 failed',
  ],
  'unified-exec.mjs':
    /^exec_command, write_stdin\nChunk ID: [0-9a-f]{6}\nWall time: [\s\S]*…163 tokens truncated…[\s\S]*\n0 world hello world \n$/,
};

const names = (await readdir(EXAMPLES)).filter((name) => /\.(mjs|ts)$/.test(name)).sort();

test('every example is tested', () => {
  expect(names).toEqual(Object.keys(EXPECTED).sort());
});

describe.each(names)('%s', (name) => {
  test('stands in the documentation as it is', async () => {
    const code = await readFile(join(EXAMPLES, name), 'utf8');
    const language = name.endsWith('.ts') ? 'ts' : 'js';
    const block = `\`\`\`${language}\n// examples/${name}\n${code}\`\`\``;
    const pages = [join(ROOT, 'README.md'), ...(await listPages())];
    const texts = await Promise.all(pages.map((page) => readFile(page, 'utf8')));
    expect(texts.some((page) => page.includes(block))).toBe(true);
  });

  test('runs and prints what it should', async () => {
    await using server = await startServer();
    const example = new SpawnedCommand({
      command: [process.execPath, await compile(name)],
      args: [server.url],
      env: { ...process.env, EXEC_SERVER_JOBS: join(COMPILED, 'jobs') },
    });
    const [output, exit] = await Promise.all([text(example.stdout), example.exited]);
    expect(example.stderr()).toBe('');
    const expected = EXPECTED[name] ?? [];
    if (expected instanceof RegExp) expect(output).toMatch(expected);
    else expect(sortLines(output)).toEqual([...expected].sort());
    expect(exit).toEqual({ code: 0, signal: null });
  });
});

function sortLines(output: string): string[] {
  return output
    .split('\n')
    .filter((line) => line !== '')
    .sort();
}

async function listPages(): Promise<string[]> {
  const docs = join(ROOT, 'docs');
  return (await readdir(docs)).filter((name) => name.endsWith('.md')).map((name) => join(docs, name));
}

/** The path of what Node can run: TypeScript and `await using` are for newer ones. */
async function compile(name: string): Promise<string> {
  const path = join(EXAMPLES, name);
  if (!name.endsWith('.ts')) return path;
  const { code } = await transform(await readFile(path, 'utf8'), { loader: 'ts', target: 'node20' });
  const compiled = join(COMPILED, name.replace(/\.ts$/, '.mjs'));
  await mkdir(COMPILED, { recursive: true });
  await writeFile(compiled, code);
  return compiled;
}

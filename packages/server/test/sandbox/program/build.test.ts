import { execFile, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { requireProgram, type SkippableTest, skipFor } from '@exec-server/testing';
import { describe, expect, it } from 'vitest';
import { PROGRAM_DIGESTS } from '../../../src/sandbox/program/digests.js';
import { makeTempDirectory } from '../../support/temp-directory.js';

const run = promisify(execFile);

const SOURCES = fileURLToPath(new URL('../../../sandbox/', import.meta.url));
const BUILD = join(SOURCES, 'build.sh');

/** Compiling takes its time on a machine with other things to do, in milliseconds. */
const COMPILE_TIMEOUT_MS = 180_000;

/** What is in SHA256SUMS: digests by file, and what each program was built with. */
async function readSums(directory: string) {
  const lines = (await readFile(join(directory, 'SHA256SUMS'), 'utf8')).trim().split('\n');
  const tools = new Map<string, string>();
  const digests = new Map<string, string>();
  for (const line of lines) {
    const [, program, description] = /^# ([\w-]+): (.*)$/.exec(line) ?? [];
    if (program !== undefined) tools.set(program, description!);
    else digests.set(line.slice(66), line.slice(0, 64));
  }
  return { tools, digests };
}

async function digestOf(path: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(path))
    .digest('hex');
}

async function listSources(): Promise<string[]> {
  return (await readdir(SOURCES)).filter((name) => name.endsWith('.c')).map((name) => join(SOURCES, name));
}

function requireCompiler(test: SkippableTest, compiler = 'gcc'): void {
  if (spawnSync(compiler, ['--version']).status !== 0) skipFor(test, compiler);
}

it('the programs that are here were built from the sources that are here', async () => {
  const { digests, tools } = await readSums(SOURCES);
  const files = (await readdir(SOURCES)).filter((name) => name !== 'SHA256SUMS');
  expect([...digests.keys()].sort()).toEqual(files.sort());
  for (const name of files)
    expect([name, await digestOf(join(SOURCES, name))]).toEqual([name, digests.get(name)]);
  expect([...tools.keys()]).toEqual(['sandbox-x64', 'sandbox-arm64']);
  for (const [processor, digest] of Object.entries(PROGRAM_DIGESTS))
    expect(digest).toBe(digests.get(`sandbox-${processor}`));
});

it('the programs can be executed by everybody', async () => {
  for (const name of ['sandbox-x64', 'sandbox-arm64'])
    expect((await stat(join(SOURCES, name))).mode & 0o777).toBe(0o755);
});

describe.each(['x64', 'arm64'])('for %s', (processor) => {
  it('the same compiler builds the same program, from another directory', {
    timeout: COMPILE_TIMEOUT_MS,
  }, async (test) => {
    if (processor === process.arch) requireProgram('musl-gcc', test);
    requireCompiler(test, `${processor === 'x64' ? 'x86_64' : 'aarch64'}-linux-gnu-gcc`);
    const target = await makeTempDirectory();
    await run('cp', ['-r', SOURCES, join(target, 'copy')]);
    try {
      await run(join(target, 'copy/build.sh'), [target, processor], { cwd: '/' });
    } catch (error) {
      if (String(error).includes('No such file')) skipFor(test, `musl-dev for ${processor}`);
      throw error;
    }
    const [known, built] = [await readSums(SOURCES), await readSums(target)];
    const name = `sandbox-${processor}`;
    if (built.tools.get(name) !== known.tools.get(name))
      skipFor(test, `${known.tools.get(name)}, not ${built.tools.get(name)}`);
    expect(built.digests.get(name)).toBe(known.digests.get(name));
  });
});

it('the analyzer of the compiler finds nothing', { timeout: COMPILE_TIMEOUT_MS }, async (test) => {
  requireCompiler(test);
  const flags = ['-std=c11', '-O1', '-fanalyzer', '-Wall', '-Wextra', '-Werror', '-c', '-o', '/dev/null'];
  for (const source of await listSources())
    await expect(run('gcc', [...flags, source]), basename(source)).resolves.toMatchObject({ stderr: '' });
});

it('a build needs a processor that there is', () => {
  expect(spawnSync(BUILD, ['/tmp', 'mips'], { encoding: 'utf8' })).toMatchObject({
    status: 2,
    stderr: 'there is no processor mips: x64 or arm64\n',
  });
});

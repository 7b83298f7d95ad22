import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { transformSync } from 'esbuild';
import { expect, it } from 'vitest';

/** Runs a script that can call `reserveStdout` in a program of its own, whose two outputs are real pipes. */
function run(script: string) {
  const source = fileURLToPath(new URL('../../src/listen/reserve-stdout.ts', import.meta.url));
  const { code } = transformSync(readFileSync(source, 'utf8'), { loader: 'ts', format: 'esm' });
  return spawnSync(process.execPath, ['--input-type=module', '-e', `${code}\n${script}`], {
    encoding: 'utf8',
  });
}

it('keeps everything else off stdout', () => {
  const { stdout, stderr, status } = run(`
    console.log('before');
    const reserved = reserveStdout();
    console.log('log'); console.info('info'); console.debug('debug'); console.table([1]); console.dir({});
    console.error('error');
    process.stdout.write('written\\n');
    reserved.stdout.write('message\\n');
    reserved.release();
    console.log('after');
    process.stdout.write('given back\\n');
  `);
  expect(status).toBe(0);
  expect(stdout).toBe('before\nmessage\nafter\ngiven back\n');
  for (const word of ['log', 'info', 'debug', 'index', '{}', 'error', 'written'])
    expect(stderr).toContain(word);
});

it('also when the console was never used before', () => {
  const { stdout, stderr } = run(`
    const reserved = reserveStdout();
    console.log('stray');
    reserved.stdout.write('message\\n');
  `);
  expect({ stdout, stderr }).toEqual({ stdout: 'message\n', stderr: 'stray\n' });
});

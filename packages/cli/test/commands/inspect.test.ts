import { expect, it } from 'vitest';
import { openSessions } from './process-support.js';

it('tells people what became of a process', async () => {
  const { command, start } = await openSessions();
  await start('over', 'exit 3', '-w', '/', '--tag', 'role=web');
  await command('wait', ['over']);
  const { code, stdout } = await command('inspect', ['ov']);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^id +over\nsession +\S+\npid +\d+\nstate +exited 3\nstarted +\d{4}-.*Z\n/);
  expect(stdout).toMatch(
    /\ndirectory +\/\ncommand +sh -c 'exit 3'\nterminal +no\ntag +role=web\nevents +2\n$/,
  );
});

it('tells programs the same as ps does', async () => {
  const { command, start } = await openSessions();
  await start('over', 'exit 3');
  await command('wait', ['over']);
  const inspected = JSON.parse((await command('inspect', ['over', '--json'])).stdout) as unknown;
  expect([inspected]).toEqual(JSON.parse((await command('ps', ['-a', '--json'])).stdout));
});

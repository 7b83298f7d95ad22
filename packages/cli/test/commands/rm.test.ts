import { expect, it } from 'vitest';
import { openSessions } from './process-support.js';

it('forgets what has ended; what runs only by force', async () => {
  const { command, start } = await openSessions();
  await start('over', 'exit 3');
  await start('alive', 'sleep 60');
  await command('wait', ['over']);
  const { code, stderr } = await command('rm', ['over', 'alive']);
  expect(code).toBe(1);
  expect(stderr).toContain('process alive runs');
  expect(stderr).toContain('--force');
  expect((await command('ps', ['-aq'])).stdout).toBe('alive\n');
  expect(await command('rm', ['-f', 'alive'])).toMatchObject({ code: 0, stderr: '' });
  expect((await command('ps', ['-aq'])).stdout).toBe('');
});

import { expect, it } from 'vitest';
import { openSessions } from './process-support.js';

it('exits as the last of the processes did, also long after', async () => {
  const { command, start } = await openSessions();
  await start('one', 'exit 1');
  await start('two', 'exit 2');
  expect(await command('wait', ['one', 'two'])).toMatchObject({ code: 2, stdout: '', stderr: '' });
  expect(await command('wait', ['tw', 'on'])).toMatchObject({ code: 1 });
});

it('gives up with 124, and tells its own failures by 125', async () => {
  const { command, start } = await openSessions();
  await start('alive', 'sleep 60');
  expect(await command('wait', ['alive', '--timeout', '1ms'])).toMatchObject({ code: 124 });
  expect(await command('wait', ['nobody'])).toMatchObject({ code: 125 });
});

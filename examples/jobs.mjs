import { rm } from 'node:fs/promises';
import { runJob } from '@exec-server/jobs';

const job = await runJob({
  rows: [{ word: 'one' }, { word: 'three' }, { word: 'zero' }],
  idColumn: 'word',
  // No shell reads the value: {word} is an argument of its own.
  command: [
    'sh',
    '-c',
    'test "$1" != zero && printf \'{"letters": %d}\' "$(printf %s "$1" | wc -c)"',
    'sh',
    '{word}',
  ],
  schema: { type: 'object', properties: { letters: { type: 'integer' } }, required: ['letters'] },
});
for await (const event of job) {
  if (event.type === 'completed') console.log(event.itemId, event.result);
  if (event.type === 'failed') console.log(event.itemId, event.error);
}
const { status, completed, failed } = await job.result;
console.log(`${status}: ${completed} completed, ${failed} failed`);
await rm(job.directory, { recursive: true });

import { serveJob } from './serve-job.js';

/** The program of a job's own server: its argument is the directory of the job. */
// Its runner may be gone before it hears of this.
process.stdout.on('error', () => {});
const [directory = ''] = process.argv.slice(2);
await serveJob(directory, () => process.stdout.write('ready\n'));
process.exit(0);

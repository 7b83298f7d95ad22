import { existsSync, realpathSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';

const directories = (process.env.PATH ?? '').split(delimiter);
const first = directories.map((directory) => join(directory, 'node')).find((path) => existsSync(path));

// Programs that ask for `node` get the one that runs the tests.
if (first === undefined || realpathSync(first) !== realpathSync(process.execPath))
  process.env.PATH = [dirname(process.execPath), ...directories].join(delimiter);

import { readlinkSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { PathLocator } from '../../../src/sandbox/bubblewrap/locate-path.js';
import { makeTempDirectory } from '../../support/temp-directory.js';

const locate = (path: string) => new PathLocator().locate(Buffer.from(path));

it.each([
  [39, 'file'],
  [40, 'file'],
  [41, 'missing'],
])('through %i links leads to something %s', async (links, kind) => {
  const directory = await makeTempDirectory();
  for (let link = 0; link < links; link++) symlinkSync(`${link + 1}`, join(directory, `${link}`));
  writeFileSync(join(directory, `${links}`), '');
  expect((await locate(join(directory, '0'))).kind).toBe(kind);
});

it('a link that may not be read leads nowhere', async (test) => {
  // Links that the kernel makes of other users' processes can be seen by everybody and read by nobody else.
  const link = '/proc/1/cwd';
  if (process.geteuid?.() === 0) {
    process.seteuid?.(65_534);
    onTestFinished(() => process.seteuid?.(0));
  }
  try {
    readlinkSync(link);
    test.skip('the first process is of this user');
  } catch {
    expect(await locate(`${link}/x`)).toMatchObject({ kind: 'missing', path: Buffer.from(`${link}/x`) });
  }
});

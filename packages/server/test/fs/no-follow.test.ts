import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createDirectory } from '../../src/fs/create-directory.js';
import { readMetadata } from '../../src/fs/metadata.js';
import { WholeFile } from '../../src/fs/read-file.js';
import { removePath } from '../../src/fs/remove.js';
import { replaceFile } from '../../src/fs/replace-file.js';
import { setMode } from '../../src/fs/set-mode.js';
import { writeFile } from '../../src/fs/write-file.js';
import { OsError } from '../../src/os-error.js';
import { makeSwappable, startSwapping } from '../support/swapping-thread.js';
import { makeTempDirectory } from '../support/temp-directory.js';

/** How often an operation must have gone well, and how often it must have met the link or the gap. */
const EACH_WAY = 40;

/** Files to remove; more than removals must go well. */
const VICTIMS = Array.from({ length: 3 * EACH_WAY }, (_, i) => `victim-${i}`);

const NO_LINKS = { followSymlinks: false };
const data = Buffer.from('written');

/** Repeats an operation until it has met both states of the swapped directory often enough. */
async function repeat(operate: () => Promise<void>): Promise<void> {
  for (let succeeded = 0, failed = 0; succeeded < EACH_WAY || failed < EACH_WAY; ) {
    try {
      await operate();
      succeeded++;
    } catch (error) {
      if (!(error instanceof OsError)) throw error;
      failed++;
    }
  }
}

async function readText(path: Buffer): Promise<string> {
  const file = await WholeFile.open(path, NO_LINKS);
  try {
    const blocks: Buffer[] = [];
    for await (const block of file.blocks(new AbortController().signal)) blocks.push(Buffer.from(block));
    return Buffer.concat(blocks).toString();
  } finally {
    await file.close();
  }
}

describe('while a directory is swapped for a link and back', () => {
  async function openArena() {
    const directory = await makeTempDirectory();
    const outside = join(directory, 'outside');
    mkdirSync(outside);
    for (const name of ['f', ...VICTIMS]) writeFileSync(join(outside, name), 'outside');
    const swapped = join(directory, 'swapped');
    const path = (name: string) => Buffer.from(join(swapped, name));
    makeSwappable(swapped, outside);
    for (const name of ['f', ...VICTIMS]) writeFileSync(path(name), 'inside');
    startSwapping(swapped);
    return { outside, path };
  }

  it('reads never leave', async () => {
    const { path } = await openArena();
    await repeat(async () => expect(await readText(path('f'))).toBe('inside'));
    await repeat(async () => expect(await readMetadata(path('f'), NO_LINKS)).toMatchObject({ size: 6 }));
  });

  it('writes never leave', async () => {
    const { outside, path } = await openArena();
    const modeOutside = statSync(join(outside, 'f')).mode;
    await repeat(() => writeFile(path('f'), data, NO_LINKS));
    await repeat(() => replaceFile(path('f'), data, NO_LINKS));
    await repeat(() => setMode(path('f'), 0o600, NO_LINKS));
    const alone = { recursive: false, force: false, ...NO_LINKS };
    let made = 0;
    await repeat(() => createDirectory(path(`made-${made++}`), alone));
    const victims = VICTIMS.values();
    let victim = victims.next().value;
    await repeat(async () => {
      await removePath(path(victim ?? 'none left'), alone);
      victim = victims.next().value;
    });
    expect(readdirSync(outside).sort()).toEqual(['f', ...VICTIMS].sort());
    expect(readFileSync(join(outside, 'f'), 'utf8')).toBe('outside');
    expect(statSync(join(outside, 'f')).mode).toBe(modeOutside);
  });
});

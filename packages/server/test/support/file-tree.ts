import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeTempDirectory } from './temp-directory.js';

/** Files by their paths below a directory. */
export type FileTree = Readonly<Record<string, string | Uint8Array>>;

/** A directory with files that goes with the test. */
export async function makeFileTree(files: FileTree): Promise<string> {
  const root = await makeTempDirectory();
  await addFiles(root, files);
  return root;
}

export async function addFiles(root: string, files: FileTree): Promise<void> {
  for (const [path, contents] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), contents);
  }
}

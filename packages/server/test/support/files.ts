import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { nativeToPathUri } from '@exec-server/protocol';
import type { InProcessWire } from '@exec-server/testing';
import { openServer, openSession } from './session.js';
import { makeTempDirectory } from './temp-directory.js';

/** What a path without a URI form of its own travels as; here, one with a NUL in it. */
export const NUL_PATH_URI = nativeToPathUri(Buffer.from('/tmp/a\0b'));

/** Makes a tree at `path` that goes deeper than a path may be long. */
export function makeDeepTree(path: string): void {
  const levels = Array.from({ length: 12 }, () => 'l'.repeat(200));
  const bottom = join(path, ...levels);
  mkdirSync(bottom, { recursive: true });
  const other = join(`${path}-below`, ...levels);
  mkdirSync(other, { recursive: true });
  writeFileSync(join(other, 'f'), '');
  renameSync(`${path}-below`, join(bottom, 'below'));
}

/** A session and a directory of its own to play in. */
export interface FileSession {
  readonly wire: InProcessWire;
  readonly directory: string;
  /** Native path of a name in the directory. */
  readonly path: (name?: string) => string;
  /** The URI of a name in the directory. */
  readonly uri: (name?: string) => string;
  /** Calls a method: its result, or `<code> <message>` where it failed. */
  readonly call: (method: string, params: object) => Promise<unknown>;
  /** Ends the server before the test ends. */
  readonly close: () => Promise<void>;
}

export async function openFileSession(): Promise<FileSession> {
  const directory = await makeTempDirectory();
  const server = openServer();
  const wire = await openSession(server);
  const path = (name = '') => join(directory, name);
  return {
    wire,
    directory,
    path,
    close: () => server.close(),
    uri: (name) => nativeToPathUri(path(name)),
    async call(method, params) {
      const { result, error } = await wire.request(method, params);
      return error === undefined ? result : `${error.code} ${error.message}`;
    },
  };
}

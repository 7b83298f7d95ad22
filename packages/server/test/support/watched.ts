import { join } from 'node:path';
import { nativeToPathUri } from '@exec-server/protocol';
import type { ExecServerOptions } from '@exec-server/server';
import type { InProcessWire, WireMessage } from '@exec-server/testing';
import { openServer, openSession } from './session.js';
import { makeTempDirectory } from './temp-directory.js';

/** What a client knows of a watch: the last kind of each path, by the path below the test's directory. */
export class Watched {
  readonly kinds = new Map<string, string>();
  /** Every change as `kind path`, in order of arrival. */
  readonly story: string[] = [];
  /** How many changes each notification had. */
  readonly batches: number[] = [];

  constructor(
    private readonly wire: InProcessWire,
    private readonly watchId: string,
    private readonly directory: string,
  ) {}

  /** Waits until `path` was reported, as `kind` if given, since the last call that took it. */
  async until(path: string, kind?: string): Promise<void> {
    const isReported = () => (kind === undefined ? this.kinds.has(path) : this.kinds.get(path) === kind);
    while (!isReported()) await this.next();
    this.kinds.delete(path);
  }

  /** Waits for the next notification. */
  async next(): Promise<void> {
    const isMine = ({ method, params }: WireMessage) =>
      method === 'fs/changed' && params?.watchId === this.watchId;
    const { params } = await this.wire.next(isMine, `fs/changed of ${this.watchId}`);
    const changes = params?.changes as { path: string; kind: string }[];
    this.batches.push(changes.length);
    const prefix = nativeToPathUri(this.directory);
    for (const { path, kind } of changes) {
      const name = path === prefix ? '' : path.slice(prefix.length + 1);
      this.kinds.delete(name);
      this.kinds.set(name, kind);
      this.story.push(`${kind} ${name}`);
    }
  }
}

/** A connection and a directory to watch. */
export async function openWatching(options: ExecServerOptions = {}) {
  const directory = await makeTempDirectory();
  const server = openServer(options);
  const wire = await openSession(server);
  const at = (name: string) => join(directory, name);
  const request = async (method: string, params: object) => {
    const { result, error } = await wire.request(method, params);
    return error ?? result;
  };
  const tryWatch = (watchId: string, name: string, recursive?: boolean) =>
    request('fs/watch', { watchId, path: nativeToPathUri(at(name)), recursive });
  return {
    server,
    wire,
    directory,
    at,
    tryWatch,
    watch: async (name: string, recursive?: boolean, watchId = 'w'): Promise<Watched> => {
      const answer = await tryWatch(watchId, name, recursive);
      if (Object.keys(answer ?? {}).length > 0) throw new Error(`fs/watch: ${JSON.stringify(answer)}`);
      return new Watched(wire, watchId, directory);
    },
    unwatch: (watchId = 'w') => request('fs/unwatch', { watchId }),
  };
}

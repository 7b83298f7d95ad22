import type { MethodName, ParamsOf, ResultOf } from '@exec-server/protocol';
import { checkOptions } from '../check-options.js';
import { requireCapability } from '../require-capability.js';
import type { SessionClient } from '../session-client.js';
import { type Dirent, listDirectory, walkTree } from './directory.js';
import type { FileCallOptions, FileSystem, ReaddirOptions, TextEncoding } from './file-system.js';
import { explainFailure, hasErrno } from './file-system-error.js';
import { readLinkStats, readStats } from './metadata.js';
import { type ReadFileOptions, readFile } from './read-file.js';
import { createReadStream } from './read-stream.js';
import { type RemotePath, toNativeText, toPathUri } from './remote-path.js';
import { removePath } from './remove.js';
import { watchPath } from './watch.js';
import { checkMode, createWriteStream, type WriteFileOptions, writeFile } from './write-file.js';

/** The files of the host that a client is connected to. Its functions need no `this`. */
export function createFileSystem(client: SessionClient): FileSystem {
  return { ...contents(client), ...directories(client), ...entries(client), ...copies(client) };
}

function contents(
  client: SessionClient,
): Pick<FileSystem, 'readFile' | 'writeFile' | 'createReadStream' | 'createWriteStream' | 'watch'> {
  return {
    // One function for two signatures, which only the interface can tell apart.
    readFile: (async (path: RemotePath, options?: TextEncoding | ReadFileOptions) =>
      readFile(client, toPathUri(path), withEncoding(options ?? {}))) as FileSystem['readFile'],
    async writeFile(path, data, options: TextEncoding | WriteFileOptions = {}) {
      await writeFile(client, toPathUri(path), data, withEncoding(options));
    },
    createReadStream: (path, options) => createReadStream(client, toPathUri(path), options),
    createWriteStream: (path, options) => createWriteStream(client, toPathUri(path), options),
    watch: (path, options) => watchPath(client, toPathUri(path), options),
  };
}

/** An encoding alone stands for options with it. */
function withEncoding<O extends object>(options: O | TextEncoding): O | { readonly encoding: TextEncoding } {
  return typeof options === 'string' ? { encoding: options } : options;
}

function directories(
  client: SessionClient,
): Pick<FileSystem, 'readdir' | 'walk' | 'mkdir' | 'rm' | 'rmdir' | 'unlink'> {
  return {
    readdir: (async (path: RemotePath, options?: ReaddirOptions) =>
      readdir(client, toPathUri(path), options ?? {})) as FileSystem['readdir'],
    async *walk(path, options = {}) {
      checkOptions('walk', options, ['maxDepth', 'signal']);
      for await (const entry of walkTree(client, toPathUri(path), 'walk', options)) {
        yield { path: entry.path, relativePath: entry.relativePath, type: entry.type };
      }
    },
    async mkdir(path, options = {}) {
      checkOptions('mkdir', options, ['recursive', 'signal']);
      const { recursive = false } = options;
      await call(client, 'mkdir', path, 'fs/createDirectory', { path: toPathUri(path), recursive }, options);
    },
    async rm(path, options = {}) {
      checkOptions('rm', options, ['recursive', 'force', 'signal']);
      await removePath(client, toPathUri(path), { operation: 'rm', ...options });
    },
    async rmdir(path, options = {}) {
      checkOptions('rmdir', options, ['signal']);
      await removePath(client, toPathUri(path), { operation: 'rmdir', ...options });
    },
    async unlink(path, options = {}) {
      checkOptions('unlink', options, ['signal']);
      await removePath(client, toPathUri(path), { operation: 'unlink', ...options });
    },
  };
}

async function readdir(
  client: SessionClient,
  uri: string,
  options: ReaddirOptions,
): Promise<Dirent[] | string[]> {
  checkOptions('readdir', options, ['withFileTypes', 'recursive', 'signal']);
  const { withFileTypes = false, recursive = false, signal } = options;
  if (!recursive) {
    const listed = await listDirectory(client, uri, 'readdir', signal);
    return withFileTypes ? listed : listed.map(({ name }) => name);
  }
  const found = [];
  for await (const { relativePath, entry } of walkTree(client, uri, 'readdir', signal && { signal }))
    found.push({ relativePath, entry });
  return withFileTypes ? found.map(({ entry }) => entry) : found.map(({ relativePath }) => relativePath);
}

function entries(
  client: SessionClient,
): Pick<FileSystem, 'stat' | 'lstat' | 'access' | 'exists' | 'realpath' | 'chmod' | 'symlink' | 'readlink'> {
  return {
    async stat(path, options = {}) {
      checkOptions('stat', options, ['signal']);
      return readStats(client, toPathUri(path), 'stat', options.signal);
    },
    async lstat(path, options = {}) {
      checkOptions('lstat', options, ['signal']);
      return readLinkStats(client, toPathUri(path), 'lstat', options.signal);
    },
    async access(path, options = {}) {
      checkOptions('access', options, ['signal']);
      await readStats(client, toPathUri(path), 'access', options.signal);
    },
    async exists(path, options = {}) {
      checkOptions('exists', options, ['signal']);
      try {
        await readStats(client, toPathUri(path), 'exists', options.signal);
        return true;
      } catch (error) {
        if (hasErrno(error, 'ENOENT', 'ENOTDIR')) return false;
        throw error;
      }
    },
    async realpath(path, options = {}) {
      checkOptions('realpath', options, ['signal']);
      const params = { path: toPathUri(path) };
      return toNativeText((await call(client, 'realpath', path, 'fs/canonicalize', params, options)).path);
    },
    async chmod(path, mode, options = {}) {
      checkOptions('chmod', options, ['signal']);
      const params = { path: toPathUri(path), mode: checkMode(mode) };
      await requireCapability(client, 'fsSetMode');
      await call(client, 'chmod', path, 'fs/setMode', params, options);
    },
    async symlink(target, path, options = {}) {
      checkOptions('symlink', options, ['signal']);
      const params = { path: toPathUri(path), target };
      await requireCapability(client, 'fsLinks');
      await call(client, 'symlink', path, 'fs/symlink', params, options);
    },
    async readlink(path, options = {}) {
      checkOptions('readlink', options, ['signal']);
      const params = { path: toPathUri(path) };
      await requireCapability(client, 'fsLinks');
      return (await call(client, 'readlink', path, 'fs/readLink', params, options)).target;
    },
  };
}

function copies(client: SessionClient): Pick<FileSystem, 'copyFile' | 'cp' | 'rename'> {
  const copy = async (
    operation: string,
    sourcePath: string,
    destination: RemotePath,
    { recursive = false, ...options }: FileCallOptions & { readonly recursive?: boolean },
  ) => {
    const params = { sourcePath, destinationPath: toPathUri(destination), recursive };
    await call(client, operation, sourcePath, 'fs/copy', params, options);
  };
  return {
    async copyFile(source, destination, options = {}) {
      checkOptions('copyFile', options, ['signal']);
      // The request copies a link as such; this shape of the call follows it.
      const params = { path: toPathUri(source) };
      const { path } = await call(client, 'copyFile', source, 'fs/canonicalize', params, options);
      await copy('copyFile', path, destination, options);
    },
    async cp(source, destination, options = {}) {
      checkOptions('cp', options, ['recursive', 'signal']);
      await copy('cp', toPathUri(source), destination, options);
    },
    async rename(source, destination, options = {}) {
      checkOptions('rename', options, ['signal']);
      const params = { sourcePath: toPathUri(source), destinationPath: toPathUri(destination) };
      await requireCapability(client, 'fsRename');
      await call(client, 'rename', source, 'fs/rename', params, options);
    },
  };
}

/** One request about a path, with errors that name both. */
function call<M extends MethodName>(
  client: SessionClient,
  operation: string,
  path: RemotePath,
  method: M,
  params: ParamsOf<M>,
  { signal }: FileCallOptions,
): Promise<ResultOf<M>> {
  const failed = { operation, path: toNativeText(toPathUri(path)) };
  return explainFailure(client.call(method, params, signal && { signal }), failed);
}

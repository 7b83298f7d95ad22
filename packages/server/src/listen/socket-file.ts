import { chmod, link, lstat, mkdtemp, rename, rm, unlink } from 'node:fs/promises';
import { connect, type Server } from 'node:net';
import { dirname, join } from 'node:path';
import { hideSocket } from '../sandbox/hidden-sockets.js';
import { bindError, ListenError } from './listen-error.js';

/** Longest path that fits a socket address, without its closing zero byte. */
export const MAX_SOCKET_PATH_BYTES = process.platform === 'linux' ? 107 : 103;

/** How the name of the private directory begins; `mkdtemp` adds six characters. */
const PRIVATE_PREFIX = '.s';

/** Longest directory of a socket: the private directory in it, in which the socket is bound, has to fit, too. */
export const MAX_SOCKET_DIRECTORY_BYTES = MAX_SOCKET_PATH_BYTES - `/${PRIVATE_PREFIX}XXXXXX/s`.length;

const SOCKET_MODE = 0o600;

/** A listening socket's name in the file system. */
export interface SocketFile {
  /** Removes the name, unless it is another socket's by now. Call it while the server still listens. */
  remove(): Promise<void>;
}

/**
 * Makes `server` listen at `path`, for this user only from the first moment on. The socket is bound in a private
 * directory and linked to its place when it is ready: `bind` itself would create it with the mode of the umask, and
 * Node would remove whatever stands at the bound path when the server closes.
 */
export async function listenAtSocketFile(server: Server, path: string): Promise<SocketFile> {
  const url = `unix://${path}`;
  refuseLong(url, 'path', path, MAX_SOCKET_PATH_BYTES);
  refuseLong(url, 'directory', dirname(path), MAX_SOCKET_DIRECTORY_BYTES);
  // In the socket's own directory: its parent may be another file system, and need not be writable for this user.
  const privateDirectory = await mkdtemp(join(dirname(path), PRIVATE_PREFIX)).catch((cause) => {
    throw bindError(url, cause);
  });
  // Both names before there is a socket behind them.
  const revealBound = hideSocket(privateDirectory, 'directory');
  const reveal = hideSocket(path);
  try {
    const boundPath = join(privateDirectory, 's');
    await bind(server, boundPath);
    await chmod(boundPath, SOCKET_MODE);
    await moveStaleSocketAside(path, join(privateDirectory, 'stale'));
    const own = await lstat(boundPath);
    await link(boundPath, path);
    return {
      async remove() {
        try {
          if (await isFile(path, own)) await unlink(path);
        } finally {
          reveal();
        }
      },
    };
  } catch (cause) {
    server.close();
    reveal();
    throw cause instanceof ListenError
      ? cause
      : bindError(url, describeConflict(cause as NodeJS.ErrnoException));
  } finally {
    await rm(privateDirectory, { recursive: true, force: true });
    revealBound();
  }
}

function refuseLong(url: string, what: string, path: string, limit: number): void {
  const bytes = Buffer.byteLength(path);
  if (bytes <= limit) return;
  throw new ListenError(
    'bind_failed',
    `cannot listen on ${url}: the ${what} has ${bytes} bytes, and that of a socket has at most ${limit}; choose a shorter one`,
  );
}

function bind(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

/** Frees `path` if a server that is gone left its socket there. */
async function moveStaleSocketAside(path: string, aside: string): Promise<void> {
  const found = await lstat(path).catch(ignoreMissing);
  if (found === undefined) return;
  if (!found.isSocket()) {
    throw new ListenError('bind_failed', `cannot listen on unix://${path}: the file exists and is no socket`);
  }
  if (await isListening(path)) throw addressInUse();
  await rename(path, aside);
  if (await isFile(aside, found)) return;
  // Another server took the place between the two looks at it; it gets its name back.
  await link(aside, path);
  throw addressInUse();
}

function isListening(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    // Any other failure, say a missing permission, leaves it open whether somebody is there.
    socket.once('error', (error: NodeJS.ErrnoException) => {
      resolve(error.code !== 'ECONNREFUSED' && error.code !== 'ENOENT');
    });
  });
}

async function isFile(path: string, file: { dev: number; ino: number }): Promise<boolean> {
  const found = await lstat(path).catch(ignoreMissing);
  return found?.dev === file.dev && found.ino === file.ino;
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}

function addressInUse(): NodeJS.ErrnoException {
  return Object.assign(new Error('another server listens there'), { code: 'EADDRINUSE' });
}

/** The name was free a moment ago, so whoever has it now is another server that starts. */
function describeConflict(error: NodeJS.ErrnoException): NodeJS.ErrnoException {
  return error.code === 'EEXIST' ? addressInUse() : error;
}

import { readdir, stat } from 'node:fs/promises';
import { constants } from 'node:os';
import { join } from 'node:path';
import { readTextFile } from '../environment/text-file.js';
import { ENOENT, isOsError, unlessErrno } from '../fs/file-error.js';
import { compareVersions } from './plugin-version.js';

/** Most plugins that are looked at. */
const MAX_PLUGINS = 512;
/** Largest note about a remote installation, in bytes. */
const MAX_INSTALL_NOTE_BYTES = 16 * 1024;
/** Longest id in such a note, in bytes. */
const MAX_REMOTE_ID_BYTES = 1024;

const { EACCES } = constants.errno;

const MARKETPLACE = /^[A-Za-z0-9_-]+$/;
const PLUGIN = /^[A-Za-z0-9_-][A-Za-z0-9_.-]*$/;
const VERSION = /^[A-Za-z0-9_.+-]+$/;

/** The version of a plugin that is being worked on; it comes before every other. */
const LOCAL_VERSION = 'local';

export interface InstalledPlugin {
  /** `<plugin>@<marketplace>`. */
  readonly id: string;
  readonly version: string;
  readonly root: string;
  /** Id at the marketplace that it was installed from. */
  readonly remoteId: string | undefined;
}

/** The newest version of every plugin in a cache, in order of their ids, and whether anything was left out. */
export async function listInstalledPlugins(
  cache: string,
): Promise<{ readonly plugins: readonly InstalledPlugin[]; readonly complete: boolean }> {
  let complete = true;
  const plugins: InstalledPlugin[] = [];
  const leaveOut = () => {
    complete = false;
    return [];
  };
  for (const marketplace of await listNames(cache, MARKETPLACE).catch(leaveOut)) {
    const packages = join(cache, marketplace);
    for (const name of await listNames(packages, PLUGIN).catch(leaveOut)) {
      const folder = join(packages, name);
      const version = await findActiveVersion(folder).catch(leaveOut);
      if (typeof version !== 'string') continue;
      if (plugins.length === MAX_PLUGINS) return { plugins: sortById(plugins), complete: false };
      const remoteId = await readRemoteId(folder).catch(() => void leaveOut());
      plugins.push({ id: `${name}@${marketplace}`, version, root: join(folder, version), remoteId });
    }
  }
  return { plugins: sortById(plugins), complete };
}

function sortById(plugins: InstalledPlugin[]): InstalledPlugin[] {
  return plugins.sort((left, right) => (left.id < right.id ? -1 : 1));
}

/** Names of directories, and of links to them, that fit; one that does not exist, or may not be read, has none. */
async function listNames(directory: string, pattern: RegExp): Promise<string[]> {
  const entries = (await unlessErrno(readdir(directory), ENOENT, EACCES)) ?? [];
  const names = entries.filter((name) => pattern.test(name)).sort();
  const kinds = await Promise.all(names.map((name) => stat(join(directory, name)).catch(() => undefined)));
  return names.filter((_, index) => kinds[index]?.isDirectory());
}

/** Versions are directories; what merely links to one was not put there by an installation. */
async function findActiveVersion(folder: string): Promise<string | undefined> {
  const entries = (await unlessErrno(readdir(folder, { withFileTypes: true }), EACCES)) ?? [];
  const versions = entries
    .filter((entry) => entry.isDirectory() && VERSION.test(entry.name))
    .map(({ name }) => name);
  if (versions.includes(LOCAL_VERSION)) return LOCAL_VERSION;
  return versions.sort(compareVersions).at(-1);
}

/** Throws when there is a note that cannot be understood. */
async function readRemoteId(folder: string): Promise<string | undefined> {
  try {
    const text = await readTextFile(
      join(folder, '.codex-remote-plugin-install.json'),
      MAX_INSTALL_NOTE_BYTES,
    );
    const id = (JSON.parse(text) as { remote_plugin_id?: unknown } | null)?.remote_plugin_id;
    if (typeof id !== 'string' || Buffer.byteLength(id) > MAX_REMOTE_ID_BYTES)
      throw new TypeError('no remote plugin id');
    return id;
  } catch (error) {
    if (isOsError(error, ENOENT)) return undefined;
    throw error;
  }
}

import type { DirectoryEntry } from '@exec-server/protocol';
import { ExecServerError } from '../errors.js';
import type { SessionClient } from '../session-client.js';
import { explainFailure } from './file-system-error.js';
import { toChildUri, toNativeText } from './remote-path.js';
import { type FileType, typeOfTarget } from './stats.js';

/** Most directories that are listed ahead of who walks. */
const MAX_LISTINGS_AHEAD = 4;

/**
 * An entry of a directory, as `Dirent` of `node:fs`: a link is a link, whatever it leads to. Servers without the
 * capability `fsListBroken` tell the type of what a link leads to instead, and leave out those that lead nowhere.
 */
export class Dirent {
  constructor(
    /** Bytes that are no UTF-8 are U+FFFD here; such a name does not lead back to the file. */
    readonly name: string,
    /** The directory, as a native path. */
    readonly parentPath: string,
    readonly type: FileType,
  ) {}

  isFile(): boolean {
    return this.type === 'file';
  }

  isDirectory(): boolean {
    return this.type === 'directory';
  }

  isSymbolicLink(): boolean {
    return this.type === 'symlink';
  }
}

/** Something below the directory that is walked. */
export interface WalkEntry {
  /** Native path. */
  readonly path: string;
  /** The same, from the directory that is walked on. */
  readonly relativePath: string;
  /** A link is not followed. */
  readonly type: FileType;
}

/** Options of `walk`. */
export interface WalkOptions {
  /** Levels below the directory; 0 lists only what is in it. @default Infinity */
  readonly maxDepth?: number;
  readonly signal?: AbortSignal;
}

/** A directory to list, by its two names. */
interface Place {
  readonly uri: string;
  /** From where the walk began; empty there. */
  readonly relativePath: string;
}

/** Something below the directory that is walked, with its path as it goes over the wire. */
export interface FoundEntry extends WalkEntry {
  readonly uri: string;
  readonly entry: Dirent;
}

/** What is in a directory, by name. */
export async function listDirectory(
  client: SessionClient,
  uri: string,
  operation: string,
  signal?: AbortSignal,
): Promise<Dirent[]> {
  const parentPath = toNativeText(uri);
  // A server that does not know the member ignores it.
  const call = client.call('fs/readDirectory', { path: uri, includeBroken: true }, signal && { signal });
  const { entries } = await explainFailure(call, { operation, path: parentPath });
  return entries
    .map((entry) => new Dirent(checkName(entry.fileName), parentPath, typeOfEntry(entry)))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** A name that leads elsewhere would have a copy of the directory write elsewhere. */
function checkName(name: string): string {
  if (name !== '' && name !== '.' && name !== '..' && !/[/\0]/.test(name)) return name;
  throw new ExecServerError('protocol', `the server lists a name that is none: ${JSON.stringify(name)}`);
}

function typeOfEntry(entry: DirectoryEntry): FileType {
  return entry.isSymlink ? 'symlink' : typeOfTarget(entry);
}

/** Everything below a directory, level by level and sorted by name inside each directory; a few listings ahead. */
export async function* walkTree(
  client: SessionClient,
  uri: string,
  operation: string,
  { maxDepth = Number.POSITIVE_INFINITY, signal }: WalkOptions = {},
): AsyncGenerator<FoundEntry, void> {
  let level: Place[] = [{ uri, relativePath: '' }];
  for (let depth = 0; level.length > 0 && depth <= maxDepth; depth++) {
    const below: Place[] = [];
    for await (const [place, entries] of listAhead(client, level, operation, signal)) {
      for (const entry of entries) {
        const found = findEntry(place, entry);
        if (found.type === 'directory') below.push(found);
        yield found;
      }
    }
    level = below;
  }
}

function findEntry(place: Place, entry: Dirent): FoundEntry {
  const { name, parentPath, type } = entry;
  const relativePath = place.relativePath === '' ? name : `${place.relativePath}/${name}`;
  const path = parentPath === '/' ? `/${name}` : `${parentPath}/${name}`;
  return { uri: toChildUri(place.uri, name), path, relativePath, type, entry };
}

/** Lists directories in order, the next ones while the first is looked at. */
async function* listAhead(
  client: SessionClient,
  places: readonly Place[],
  operation: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<[Place, Dirent[]], void> {
  const ahead: Promise<Dirent[]>[] = [];
  for (const [index, place] of places.entries()) {
    signal?.throwIfAborted();
    for (const next of places.slice(index + ahead.length, index + MAX_LISTINGS_AHEAD)) {
      const listing = listDirectory(client, next.uri, operation, signal);
      // Told to who comes to it; the walk may end before.
      listing.catch(() => {});
      ahead.push(listing);
    }
    yield [place, (await ahead.shift()) ?? []];
  }
}

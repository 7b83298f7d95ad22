import { isWithin } from '../../../fs/native-path.js';
import { toPathBytes } from '../../../fs/watch/byte-path.js';
import type { IsHidden } from '../../../fs/watch/path-chain.js';
import { PathLocator } from '../../../sandbox/bubblewrap/locate-path.js';
import { listHiddenPaths } from '../../../sandbox/hidden-sockets.js';
import { allowsAllFiles, type ResolvedPolicy } from '../../../sandbox/policy/policy.js';

/** What a sandbox has of its own under policies that let everything be read, so that the host's is not there. */
const OWN_PLACES = ['/proc', '/dev'].map((path) => Buffer.from(path));
/** What it has of the host in there if every file may be written. */
const SHARED_PLACE = Buffer.from('/dev/shm');

/**
 * What is not there for whoever watches files under a policy that lets everything be read: what a sandbox has of its own,
 * and what it hides.
 */
export async function hideFromWatches(files: ResolvedPolicy['files']): Promise<IsHidden> {
  const services = listHiddenPaths('restricted').map(({ path }) => Buffer.from(path));
  const locator = new PathLocator();
  const locations = await Promise.all(services.map((path) => locator.locate(path)));
  const hidden = [
    ...services,
    // By where they lead, too: watches follow links themselves.
    ...locations.map(({ path }) => path),
  ];
  const isShared = (path: Uint8Array) => allowsAllFiles(files) && isWithin(path, SHARED_PLACE);
  return (path) => {
    const bytes = toPathBytes(path);
    if (hidden.some((place) => isWithin(bytes, place))) return true;
    return !isShared(bytes) && OWN_PLACES.some((place) => isWithin(bytes, place));
  };
}

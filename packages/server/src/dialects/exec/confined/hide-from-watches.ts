import { isWithin } from '../../../fs/native-path.js';
import { toPathBytes } from '../../../fs/watch/byte-path.js';
import type { IsHidden } from '../../../fs/watch/path-chain.js';
import { locatePath } from '../../../sandbox/bubblewrap/locate-path.js';
import { listHiddenPaths } from '../../../sandbox/hidden-sockets.js';
import type { ResolvedPolicy } from '../../../sandbox/policy/policy.js';

/** What a sandbox has of its own under policies that let everything be read, so that the host's is not there. */
const OWN_PLACES = { unrestricted: ['/proc'], restricted: ['/proc', '/dev'] };

/**
 * What is not there for whoever watches files under a policy that lets everything be read: what a sandbox has of its own,
 * and what it hides.
 */
export function hideFromWatches(files: ResolvedPolicy['files']): IsHidden {
  const own = files === 'unrestricted' || files.fullWrite ? OWN_PLACES.unrestricted : OWN_PLACES.restricted;
  const services = listHiddenPaths('restricted').map(({ path }) => Buffer.from(path));
  const hidden = [
    ...own.map((path) => Buffer.from(path)),
    // By where they lead, too: watches follow links themselves.
    ...services.flatMap((path) => [path, locatePath(path).path]),
  ];
  return (path) => hidden.some((place) => isWithin(toPathBytes(path), place));
}

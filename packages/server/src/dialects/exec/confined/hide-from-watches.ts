import { isWithin } from '../../../fs/native-path.js';
import { toPathBytes } from '../../../fs/watch/byte-path.js';
import type { IsHidden } from '../../../fs/watch/path-chain.js';
import { PathLocator } from '../../../sandbox/bubblewrap/locate-path.js';
import { listHiddenPaths } from '../../../sandbox/hidden-sockets.js';
import type { ResolvedPolicy } from '../../../sandbox/policy/policy.js';

/** What a sandbox has of its own under policies that let everything be read, so that the host's is not there. */
const OWN_PLACES = { unrestricted: ['/proc'], restricted: ['/proc', '/dev'] };

/**
 * What is not there for whoever watches files under a policy that lets everything be read: what a sandbox has of its own,
 * and what it hides.
 */
export async function hideFromWatches(files: ResolvedPolicy['files']): Promise<IsHidden> {
  const own = files === 'unrestricted' || files.fullWrite ? OWN_PLACES.unrestricted : OWN_PLACES.restricted;
  const services = listHiddenPaths('restricted').map(({ path }) => Buffer.from(path));
  const locator = new PathLocator();
  const locations = await Promise.all(services.map((path) => locator.locate(path)));
  const hidden = [
    ...own.map((path) => Buffer.from(path)),
    ...services,
    // By where they lead, too: watches follow links themselves.
    ...locations.map(({ path }) => path),
  ];
  return (path) => hidden.some((place) => isWithin(toPathBytes(path), place));
}

import { CapabilityMissingError } from '../errors.js';
import type { SessionClient } from '../session-client.js';
import { explainFailure } from './file-system-error.js';
import { toNativeText } from './remote-path.js';
import { Stats, typeOfTarget } from './stats.js';

/** Describes what a path leads to. */
export async function readStats(
  client: SessionClient,
  uri: string,
  operation: string,
  signal?: AbortSignal,
): Promise<Stats> {
  // A server that does not know the member ignores it.
  const call = client.call('fs/getMetadata', { path: uri, full: true }, signal && { signal });
  const metadata = await explainFailure(call, { operation, path: toNativeText(uri) });
  return new Stats(typeOfTarget(metadata), metadata);
}

/** Describes what is at a path; a link itself. */
export async function readLinkStats(
  client: SessionClient,
  uri: string,
  operation: string,
  signal?: AbortSignal,
): Promise<Stats> {
  const params = { path: uri, describeLink: true, full: true };
  const call = client.call('fs/getMetadata', params, signal && { signal });
  const metadata = await explainFailure(call, { operation, path: toNativeText(uri) });
  if (!metadata.isSymlink) return new Stats(typeOfTarget(metadata), metadata);
  // Without the capability everything but this describes the target.
  if (!(await client.supports('fsLinks'))) throw new CapabilityMissingError('fsLinks');
  return new Stats('symlink', metadata);
}

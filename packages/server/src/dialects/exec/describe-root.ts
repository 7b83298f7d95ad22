import {
  type CapabilityRoot,
  type DiscoveredRoot,
  ForeignPathError,
  pathUriToNative,
} from '@exec-server/protocol';
import { discoverRoot, RootError } from '../../capabilities/discover-root.js';
import { toBytePath } from '../../fs/watch/byte-path.js';
import type { HandlerContext } from '../dialect.js';
import { encodeFile, encodeOptional, encodePlugin } from './encode-capabilities.js';

/** What a directory holds for an agent. One that cannot be used says so in its own result. */
export async function describeRoot(
  { id, path }: Pick<CapabilityRoot, 'id' | 'path'>,
  { signal }: Pick<HandlerContext, 'signal'>,
): Promise<DiscoveredRoot> {
  try {
    const { plugin, skills, namespaceManifests, warnings } = await discoverRoot(nativeRoot(path), signal);
    return {
      id,
      path,
      plugin: plugin === undefined ? null : encodePlugin(plugin),
      skills: skills.map(({ instructions, metadata }) => ({
        instructions: encodeFile(instructions),
        metadata: encodeOptional(metadata),
      })),
      namespaceManifests: namespaceManifests.map(encodeFile),
      warnings: [...warnings],
      error: null,
    };
  } catch (error) {
    if (!(error instanceof RootError)) throw error;
    return refuseRoot({ id, path }, error.message);
  }
}

/** The result for a root that nothing can be said about. */
export function refuseRoot({ id, path }: Pick<CapabilityRoot, 'id' | 'path'>, error: string): DiscoveredRoot {
  return { id, path, plugin: null, skills: [], namespaceManifests: [], warnings: [], error };
}

function nativeRoot(uri: string): string {
  try {
    return toBytePath(pathUriToNative(uri));
  } catch (error) {
    if (!(error instanceof ForeignPathError)) throw error;
    throw new RootError(`failed to inspect capability root ${uri}: ${error.message}`);
  }
}

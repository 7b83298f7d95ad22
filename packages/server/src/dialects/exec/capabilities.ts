import {
  type CapabilitiesDiscoverParams,
  type CapabilitiesDiscoverResult,
  type CapabilityFile,
  type CapabilityRoot,
  type CapabilityRootsDiscoverParams,
  type CapabilityRootsDiscoverResult,
  type DiscoveredRoot,
  ForeignPathError,
  internalError,
  invalidParams,
  invalidRequest,
  MAX_CAPABILITY_ROOTS,
  type PluginSkill,
  pathUriToNative,
  type PluginFiles as WirePluginFiles,
} from '@exec-server/protocol';
import { showPath, type TextFile } from '../../capabilities/bundle.js';
import { discoverInstalled, type Installed } from '../../capabilities/discover-installed.js';
import { discoverRoot, RootError } from '../../capabilities/discover-root.js';
import { CONCURRENT_ROOTS, mapInOrder } from '../../capabilities/in-order.js';
import type { Skill } from '../../capabilities/installed-skills.js';
import type { PluginFiles } from '../../capabilities/plugin-manifest.js';
import { CodexHomeError, findCodexHome, findUserHome } from '../../environment/codex-home.js';
import { SYSTEM_CONFIG_DIR } from '../../environment/config/read-config.js';
import { toBytePath } from '../../fs/watch/byte-path.js';
import { findFileRestriction } from '../../sandbox/restrictions.js';
import type { HandlerContext } from '../dialect.js';
import { fitCapabilities } from './fit-capabilities.js';

export async function discoverCapabilityRoots(
  { roots }: CapabilityRootsDiscoverParams,
  { signal }: HandlerContext,
): Promise<CapabilityRootsDiscoverResult> {
  if (roots.length > MAX_CAPABILITY_ROOTS)
    throw invalidRequest(`capability root discovery accepts at most ${MAX_CAPABILITY_ROOTS} roots`);
  return { roots: await mapInOrder(roots, CONCURRENT_ROOTS, (root) => discoverOne(root, signal)) };
}

/** A root that cannot be used says so in its own result; the others are not concerned. */
async function discoverOne(
  { id, path, sandbox }: CapabilityRoot,
  signal: AbortSignal,
): Promise<DiscoveredRoot> {
  try {
    if (findFileRestriction(sandbox) !== undefined)
      throw new RootError('filesystem sandbox is unavailable on this executor');
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
    return { id, path, plugin: null, skills: [], namespaceManifests: [], warnings: [], error: error.message };
  }
}

function nativeRoot(uri: string): string {
  try {
    return toBytePath(pathUriToNative(uri));
  } catch (error) {
    if (!(error instanceof ForeignPathError)) throw error;
    throw new RootError(`failed to inspect capability root ${uri}: ${error.message}`);
  }
}

export async function discoverCapabilities(
  { sandbox }: CapabilitiesDiscoverParams,
  { engine, signal }: HandlerContext,
): Promise<CapabilitiesDiscoverResult> {
  const restriction = findFileRestriction(sandbox);
  if (restriction !== undefined)
    throw invalidParams(`sandbox intent cannot be enforced on this executor: ${restriction}`);
  try {
    const places = {
      codexHome: await findCodexHome(engine.serverEnv),
      userHome: findUserHome(engine.serverEnv),
      systemDir: SYSTEM_CONFIG_DIR,
    };
    return fitCapabilities(encodeInstalled(await discoverInstalled(places, signal)));
  } catch (error) {
    if (error instanceof CodexHomeError) throw internalError(`failed to find Codex home: ${error.message}`);
    throw error;
  }
}

function encodeInstalled({ plugins, skills, warnings }: Installed): CapabilitiesDiscoverResult {
  return {
    plugins: plugins.map(({ id, displayName, remoteId, version, root, files, skills }) => ({
      id,
      displayName,
      remotePluginId: remoteId ?? null,
      version,
      root: showPath(toBytePath(Buffer.from(root))),
      files: encodePlugin(files),
      skills: skills.map(encodeSkill),
    })),
    skills: skills.map(({ discoveryRoot, ...skill }) => {
      const { dependencies, policy, ...named } = encodeSkill(skill);
      const place = { id: discoveryRoot.id, path: showPath(discoveryRoot.path) };
      return { ...named, discoveryRoot: place, dependencies, policy };
    }),
    warnings: [...warnings],
  };
}

function encodeSkill({
  name,
  description,
  shortDescription,
  path,
  dependencies,
  policy,
}: Skill): PluginSkill {
  return {
    name,
    description,
    shortDescription: shortDescription ?? null,
    path: showPath(path),
    dependencies,
    policy: policy && { ...policy, products: [...policy.products] },
  };
}

function encodePlugin({ manifest, mcpConfig, appsConfig }: PluginFiles): WirePluginFiles {
  return {
    manifest: encodeFile(manifest),
    mcpConfig: encodeOptional(mcpConfig),
    appsConfig: encodeOptional(appsConfig),
  };
}

function encodeOptional(file: TextFile | undefined): CapabilityFile | null {
  return file === undefined ? null : encodeFile(file);
}

function encodeFile({ path, contents }: TextFile): CapabilityFile {
  return { path: showPath(path), contents };
}

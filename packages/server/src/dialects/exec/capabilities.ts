import {
  type CapabilitiesDiscoverParams,
  type CapabilitiesDiscoverResult,
  type CapabilityRoot,
  type CapabilityRootsDiscoverParams,
  type CapabilityRootsDiscoverResult,
  type DiscoveredRoot,
  internalError,
  invalidRequest,
  MAX_CAPABILITY_ROOTS,
  RpcError,
} from '@exec-server/protocol';
import { discoverInstalled, type InstalledPlaces } from '../../capabilities/discover-installed.js';
import { CONCURRENT_ROOTS, mapInOrder } from '../../capabilities/in-order.js';
import { CodexHomeError, findCodexHome, findUserHome } from '../../environment/codex-home.js';
import { SYSTEM_CONFIG_DIR } from '../../environment/config/read-config.js';
import type { ResolvedPolicy } from '../../sandbox/policy/policy.js';
import { PolicyError, type PolicyFailure } from '../../sandbox/policy/policy-error.js';
import type { HandlerContext } from '../dialect.js';
import { findFileLimits } from './confined/file-limits.js';
import { runConfined } from './confined/run-confined.js';
import { describeRoot, refuseRoot } from './describe-root.js';
import { encodeInstalled } from './encode-capabilities.js';
import { fitCapabilities } from './fit-capabilities.js';

export async function discoverCapabilityRoots(
  { roots }: CapabilityRootsDiscoverParams,
  context: HandlerContext,
): Promise<CapabilityRootsDiscoverResult> {
  if (roots.length > MAX_CAPABILITY_ROOTS)
    throw invalidRequest(`capability root discovery accepts at most ${MAX_CAPABILITY_ROOTS} roots`);
  return { roots: await mapInOrder(roots, CONCURRENT_ROOTS, (root) => discoverOne(root, context)) };
}

/**
 * A root whose sandbox cannot be made says so in its own result; the others are not concerned. A context that lacks its
 * directory is a mistake of the whole request.
 */
async function discoverOne(
  { id, path, sandbox }: CapabilityRoot,
  context: HandlerContext,
): Promise<DiscoveredRoot> {
  const root = { id, path };
  try {
    const files = await findFileLimits(sandbox, 'reads', context.engine);
    if (files === undefined) return await describeRoot(root, context);
    const call = { files, access: 'reads', method: 'capabilities/root', params: root } as const;
    return (await runConfined(call, context)) as DiscoveredRoot;
  } catch (error) {
    if (!(error instanceof RpcError) || findPolicyFailure(error) === 'needs-cwd') throw error;
    return refuseRoot(root, `failed to inspect capability root ${path}: ${error.message}`);
  }
}

export async function discoverCapabilities(
  { sandbox }: CapabilitiesDiscoverParams,
  context: HandlerContext,
): Promise<CapabilitiesDiscoverResult> {
  const { engine, signal } = context;
  const files = await findInstalledLimits(sandbox, engine);
  const places = await findPlaces(engine);
  if (files === undefined) return fitCapabilities(encodeInstalled(await discoverInstalled(places, signal)));
  const call = { files, access: 'reads', method: 'capabilities/installed', params: places } as const;
  return fitCapabilities((await runConfined(call, context)) as CapabilitiesDiscoverResult);
}

/** Here rules of another kind of host are an error of the server, as the reference has it. */
async function findInstalledLimits(
  sandbox: CapabilitiesDiscoverParams['sandbox'],
  engine: HandlerContext['engine'],
): Promise<ResolvedPolicy['files'] | undefined> {
  try {
    return await findFileLimits(sandbox, 'reads', engine);
  } catch (error) {
    if (findPolicyFailure(error) !== 'foreign-path') throw error;
    throw internalError((error as Error).message);
  }
}

function findPolicyFailure(error: unknown): PolicyFailure | undefined {
  return error instanceof RpcError && error.cause instanceof PolicyError ? error.cause.failure : undefined;
}

async function findPlaces({ serverEnv }: HandlerContext['engine']): Promise<InstalledPlaces> {
  try {
    return {
      codexHome: await findCodexHome(serverEnv),
      userHome: findUserHome(serverEnv),
      systemDir: SYSTEM_CONFIG_DIR,
    };
  } catch (error) {
    if (error instanceof CodexHomeError) throw internalError(`failed to find Codex home: ${error.message}`);
    throw error;
  }
}

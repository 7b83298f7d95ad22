import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import { basename } from 'node:path';
import { type EnvironmentCapabilities, type EnvironmentInfo, nativeToPathUri } from '@exec-server/protocol';
import { hasMemoryFiles } from '../native/memory-file.js';
import { resolveLimits, type ServerLimits } from '../options.js';
import { VERSION } from '../version.js';
import { findUserHome } from './codex-home.js';

/** Where a Linux system keeps the id that it got at installation. */
const MACHINE_ID_FILES = ['/etc/machine-id', '/var/lib/dbus/machine-id'];

const DEFAULT_SHELL = '/bin/sh';
const DEFAULT_TEMP_DIR = '/tmp';

/** What works here unless the server's options say otherwise. A capability is true only when the operations behind it are there. */
const CAPABILITIES: EnvironmentCapabilities = {
  networkProxyLaunch: true,
  networkProxyReviewDomains: true,
  credentialMasking: false,
  credentialMaskingCustomProviders: false,
  capabilityDiscoverySandbox: false,
  fsWatchMissing: true,
  capabilityDiscoveryV2: true,
  environmentConfigRead: true,
  httpHeaderEnvVars: true,
  sandboxedFileStreaming: false,
  fileWriteStreaming: true,
  shellSnapshotV2: false,
  windowsMxc: false,
  linuxRootWritePreservesDevices: false,
  linuxApprovedRootWritePreservesRestrictions: false,
  promptStatus: true,
  sessionTakeover: true,
  processSize: true,
  sessionEnd: true,
  processHold: true,
  processRemove: true,
  processTimeout: true,
  processOutputCap: true,
  processTags: true,
  processCloseStdin: true,
  processSpill: true,
  processTraceEnv: true,
  processLifecycleEvents: true,
  processStartPrepared: true,
  processKeepAlive: true,
  processStartKey: true,
  processAttach: true,
  processWait: true,
  processSnapshot: true,
  processSignals: true,
  processGracefulTerminate: true,
  netWaitForPort: true,
  fsRename: true,
  fsSetMode: true,
  fsAtomicWrite: true,
  fsListBroken: true,
  fsLinks: true,
  fsFullMetadata: true,
  fsResumableStreams: true,
  fsWatch: true,
  httpCancel: true,
  binaryOutput: true,
};

/** Describes this machine to clients. */
export function describeEnvironment(
  serverEnv: Readonly<Record<string, string | undefined>>,
  { allowPreparedExec }: Pick<ServerLimits, 'allowPreparedExec'> = resolveLimits(),
): EnvironmentInfo {
  const shell = loginShell();
  const tempDir = serverEnv.TMPDIR;
  const cwd = findOwnDirectory();
  return {
    shell: { name: basename(shell), path: shell },
    executorVersion: VERSION,
    providerId: providerId(),
    ...(cwd !== undefined && { cwd: nativeToPathUri(cwd) }),
    userHomeDir: nativeToPathUri(findUserHome(serverEnv)),
    platformOs: process.platform === 'darwin' ? 'macos' : process.platform,
    prependPathDirs: [],
    temporaryDirectories: tempDir ? [nativeToPathUri(tempDir)] : [],
    tempDir: nativeToPathUri(tempDir || DEFAULT_TEMP_DIR),
    // The state of a shell travels in memory, or not at all.
    capabilities: {
      ...CAPABILITIES,
      shellSnapshotV2: hasMemoryFiles(),
      processStartPrepared: allowPreparedExec,
    },
  };
}

/**
 * What was described, with what depends on sandboxes.
 * @param makesViews whether a program can be confined to what its rules say
 */
export function describeSandboxes(info: EnvironmentInfo, makesViews: boolean): EnvironmentInfo {
  return {
    ...info,
    capabilities: {
      ...info.capabilities,
      sandboxedFileStreaming: makesViews,
      capabilityDiscoverySandbox: makesViews,
      linuxRootWritePreservesDevices: makesViews,
      linuxApprovedRootWritePreservesRestrictions: makesViews,
    },
  };
}

/** Nothing when the directory that the server was started in is gone: every request names its own. */
function findOwnDirectory(): string | undefined {
  try {
    return process.cwd();
  } catch {
    return undefined;
  }
}

/** The shell of the passwd entry; `$SHELL` says what the server was started from, which is something else. */
function loginShell(): string {
  try {
    return userInfo().shell || DEFAULT_SHELL;
  } catch {
    // A uid without a passwd entry, as containers have it.
    return DEFAULT_SHELL;
  }
}

/** Names this host: the same at every start, and nothing can be learned from it. */
function providerId(): string {
  return `sha256:${createHash('sha256').update(`exec-server ${machineId()} ${hostname()}`).digest('hex')}`;
}

function machineId(): string {
  for (const file of MACHINE_ID_FILES) {
    try {
      return readFileSync(file, 'utf8').trim();
    } catch {
      // The next place, or none: the host name alone still tells hosts apart.
    }
  }
  return '';
}

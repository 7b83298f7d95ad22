import type * as z from 'zod/mini';
import { describe, flag, list, oneOf, pathUri, text } from '../fields.js';
import { defaulted, nullable, struct } from '../struct.js';

export const ShellInfo = struct('ShellInfo', {
  name: text('Name of the shell: `bash`, `zsh`, `sh`, …'),
  path: text('Native path or command name of the shell.'),
});
export type ShellInfo = z.output<typeof ShellInfo>;

/** What this server has beyond the reference. */
const ownCapabilities = {
  fsRename: defaulted(flag('`fs/rename` exists.')),
  fsSetMode: defaulted(flag('`fs/setMode` exists.')),
  fsAtomicWrite: defaulted(flag('`fs/writeFile` takes `atomic`.')),
  fsListBroken: defaulted(flag('`fs/readDirectory` takes `includeBroken`.')),
  fsLinks: defaulted(
    flag('`fs/readLink` and `fs/symlink` exist, and `fs/getMetadata` takes `describeLink`.'),
  ),
  fsFullMetadata: defaulted(flag('`fs/getMetadata` takes `full`.')),
  fsResumableStreams: defaulted(flag('`fs/open` takes `keep` and `identify`.')),
  fsWatch: defaulted(flag('`fs/watch`, `fs/unwatch` and `fs/changed` exist.')),
  httpCancel: defaulted(flag('`http/cancel` exists.')),
  binaryOutput: defaulted(flag('`initialize` takes `binaryOutput`.')),
  sessionTakeover: defaulted(
    flag('`initialize` takes `answersRequests`, and a session from a connection that gives no sign of life.'),
  ),
  promptStatus: defaulted(flag('`environment/status` is answered at once, past requests that are pending.')),
  processSize: defaulted(flag('`process/start` takes `size`, and `process/resize` exists.')),
  processTimeout: defaulted(flag('`process/start` takes `timeoutMs` and `graceMs`.')),
  processOutputCap: defaulted(flag('`process/start` takes `outputBytesCap`.')),
  processTags: defaulted(flag('`process/start` takes `tags`, and `process/list` exists.')),
  processCloseStdin: defaulted(flag('`process/closeStdin` exists, and `process/write` takes `closeStdin`.')),
  processSpill: defaulted(flag('`process/start` takes `spill`, and outcomes tell `spill`.')),
  processTraceEnv: defaulted(flag('`process/start` takes `traceEnv`.')),
  processLifecycleEvents: defaulted(flag('`initialize` takes `lifecycleEvents`.')),
  processStartPrepared: defaulted(flag('`process/startPrepared` exists and is allowed.')),
  processKeepAlive: defaulted(flag('`process/start` takes `keepAliveMs`.')),
  processStartKey: defaulted(flag('`process/start` takes `startKey`.')),
  processAttach: defaulted(flag('`process/attach` exists, and processes of other sessions can be named.')),
  sessionEnd: defaulted(flag('`session/end` exists.')),
  processHold: defaulted(flag('`process/hold` exists.')),
  processRemove: defaulted(
    flag('`process/remove` exists, results are kept for `keepAliveMs`, and errors tell `process_expired`.'),
  ),
  processWait: defaulted(flag('`process/wait` exists.')),
  processSnapshot: defaulted(flag('`process/snapshot` exists.')),
  processSignals: defaulted(flag('`process/signal` takes every POSIX name.')),
  processGracefulTerminate: defaulted(
    flag('`process/terminate` takes `mode`, `wait` and `leftovers`, and answers with `pids`.'),
  ),
  netWaitForPort: defaulted(flag('`net/waitForPort` exists.')),
};

/** What the server can do. A capability that is absent is false. */
export const EnvironmentCapabilities = struct(
  'EnvironmentCapabilities',
  {
    networkProxyLaunch: defaulted(flag('`process/start` takes `networkProxy`.')),
    networkProxyReviewDomains: defaulted(flag('`networkProxy.proxy` takes `reviewDomains`.')),
    credentialMasking: defaulted(flag('`networkProxy.proxy` takes `credentialMasking`.')),
    credentialMaskingCustomProviders: defaulted(flag('`networkProxy.proxy` takes `credentialProviders`.')),
    capabilityDiscoverySandbox: defaulted(flag('Capability discovery takes a sandbox context.')),
    fsWatchMissing: defaulted(flag('`fs/watchMissing` exists.')),
    capabilityDiscoveryV2: defaulted(flag('`capabilities/discoverV2` exists.')),
    environmentConfigRead: defaulted(flag('`environmentConfig/read` exists.')),
    httpHeaderEnvVars: defaulted(flag('Headers of `http/request` take `valueEnvVar`.')),
    sandboxedFileStreaming: defaulted(flag('`fs/open` takes a sandbox context that restricts.')),
    fileWriteStreaming: defaulted(flag('`fs/open` takes `mode`, and `fs/writeBlock` exists.')),
    shellSnapshotV2: defaulted(flag('`process/start` takes `shellSnapshot`.')),
    windowsMxc: defaulted(flag('The Windows sandbox level `mxc` works.')),
    linuxRootWritePreservesDevices: defaulted(flag('A sandbox that may write `/` keeps the devices.')),
    linuxApprovedRootWritePreservesRestrictions: defaulted(
      flag('An approved write to `/` keeps the other restrictions of the sandbox.'),
    ),
  },
  { extensions: ownCapabilities },
);
export type EnvironmentCapabilities = z.output<typeof EnvironmentCapabilities>;

/** The machine and the user that the server runs on and as. Older servers send `shell` alone. */
export const EnvironmentInfo = struct('EnvironmentInfo', {
  shell: describe(ShellInfo, "The user's login shell."),
  executorVersion: nullable(text('Version of the server.'), { omittable: true }),
  providerId: nullable(text('Stable id of the host, `sha256:<hex>`.'), { omittable: true }),
  cwd: nullable(pathUri('Directory the server was started in.'), { omittable: true }),
  userHomeDir: nullable(pathUri('Home directory of the user.'), { omittable: true }),
  platformOs: nullable(text('Operating system: `linux`, `macos`, `windows`.'), { omittable: true }),
  prependPathDirs: nullable(list(pathUri(), 'Directories the server put in front of its `PATH`.'), {
    omittable: true,
  }),
  temporaryDirectories: nullable(list(pathUri(), '`TMPDIR` of the server, or nothing.'), { omittable: true }),
  tempDir: nullable(pathUri('Directory for temporary files.'), { omittable: true }),
  capabilities: defaulted(describe(EnvironmentCapabilities, 'What the server can do.')),
});
export type EnvironmentInfo = z.output<typeof EnvironmentInfo>;

export const EnvironmentStatusResult = struct('EnvironmentStatusResponse', {
  status: oneOf(['ready'], 'The only state a server that answers is in.'),
});
export type EnvironmentStatusResult = z.output<typeof EnvironmentStatusResult>;

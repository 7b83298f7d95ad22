import {
  type EnvironmentCapabilities,
  type EnvironmentInfo,
  invalidParams,
  type MethodName,
} from '@exec-server/protocol';

export type CapabilityName = keyof EnvironmentCapabilities;

/** Methods that exist only with a capability. */
const METHODS: Readonly<Partial<Record<MethodName, CapabilityName>>> = {
  'capabilities/discoverV2': 'capabilityDiscoveryV2',
  'environmentConfig/read': 'environmentConfigRead',
  'fs/readLink': 'fsLinks',
  'fs/rename': 'fsRename',
  'fs/setMode': 'fsSetMode',
  'fs/symlink': 'fsLinks',
  'fs/unwatch': 'fsWatch',
  'fs/watch': 'fsWatch',
  'fs/watchMissing': 'fsWatchMissing',
  'fs/writeBlock': 'fileWriteStreaming',
  'http/cancel': 'httpCancel',
  'net/waitForPort': 'netWaitForPort',
  'process/attach': 'processAttach',
  'process/closeStdin': 'processCloseStdin',
  'process/detach': 'processAttach',
  'process/hold': 'processHold',
  'process/list': 'processTags',
  'process/remove': 'processRemove',
  'process/resize': 'processSize',
  'process/snapshot': 'processSnapshot',
  'process/startPrepared': 'processStartPrepared',
  'process/wait': 'processWait',
  'session/end': 'sessionEnd',
};

const ANOTHER_SESSION = { sessionId: 'processAttach' } as const;
const START_MEMBERS = {
  keepAliveMs: 'processKeepAlive',
  graceMs: 'processTimeout',
  outputBytesCap: 'processOutputCap',
  shellSnapshot: 'shellSnapshotV2',
  size: 'processSize',
  spill: 'processSpill',
  startKey: 'processStartKey',
  tags: 'processTags',
  timeoutMs: 'processTimeout',
  traceEnv: 'processTraceEnv',
} as const;

/** Members of params that mean something only with a capability. */
const MEMBERS: Readonly<Partial<Record<MethodName, Readonly<Record<string, CapabilityName>>>>> = {
  initialize: {
    answersRequests: 'sessionTakeover',
    binaryOutput: 'binaryOutput',
    lifecycleEvents: 'processLifecycleEvents',
  },
  'fs/getMetadata': { describeLink: 'fsLinks', full: 'fsFullMetadata' },
  'fs/open': { mode: 'fileWriteStreaming', keep: 'fsResumableStreams', identify: 'fsResumableStreams' },
  'fs/readDirectory': { includeBroken: 'fsListBroken' },
  'fs/writeFile': { atomic: 'fsAtomicWrite' },
  'process/closeStdin': ANOTHER_SESSION,
  'process/hold': ANOTHER_SESSION,
  'process/read': ANOTHER_SESSION,
  'process/remove': ANOTHER_SESSION,
  'process/resize': ANOTHER_SESSION,
  'process/signal': ANOTHER_SESSION,
  'process/snapshot': ANOTHER_SESSION,
  'process/start': START_MEMBERS,
  'process/startPrepared': START_MEMBERS,
  'process/terminate': {
    ...ANOTHER_SESSION,
    mode: 'processGracefulTerminate',
    wait: 'processGracefulTerminate',
    leftovers: 'processGracefulTerminate',
  },
  'process/wait': ANOTHER_SESSION,
  'process/write': { ...ANOTHER_SESSION, closeStdin: 'processCloseStdin' },
};

/** Capabilities that a server can do without. */
const SWITCHABLE: ReadonlySet<CapabilityName> = new Set([
  ...Object.values(METHODS),
  ...Object.values(MEMBERS).flatMap((gates) => Object.values(gates)),
  'processSignals',
]);

/**
 * What a server without some of its capabilities knows: their methods do not exist, and their members are members that
 * nobody knows, which are ignored, as everywhere in this protocol.
 */
export class CapabilityGates {
  /** Throws `RangeError` for a name that is none, or of something that cannot be switched off. */
  constructor(private readonly disabled: ReadonlySet<CapabilityName>) {
    for (const name of disabled) {
      if (!SWITCHABLE.has(name)) throw new RangeError(`no capability that can be switched off: ${name}`);
    }
  }

  /** What the server says of itself, with what is switched off. */
  describe(info: EnvironmentInfo): EnvironmentInfo {
    const off = Object.fromEntries([...this.disabled].map((name) => [name, false]));
    return { ...info, capabilities: { ...info.capabilities, ...off } };
  }

  has(capability: CapabilityName): boolean {
    return !this.disabled.has(capability);
  }

  hasMethod(method: MethodName): boolean {
    const capability = METHODS[method];
    return capability === undefined || !this.disabled.has(capability);
  }

  /** Params as they are without the members that are switched off. */
  filterParams(method: MethodName, params: unknown): unknown {
    const gates = MEMBERS[method];
    if (this.disabled.size === 0 || gates === undefined) return params;
    if (typeof params !== 'object' || params === null || Array.isArray(params)) return params;
    return Object.fromEntries(
      Object.entries(params).filter(([name]) => {
        const capability = Object.hasOwn(gates, name) ? gates[name] : undefined;
        return capability === undefined || !this.disabled.has(capability);
      }),
    );
  }

  /** Without their capability, signals other than the one that the reference knows are no values. */
  checkSignal(method: MethodName, params: unknown): void {
    if (method !== 'process/signal' || !this.disabled.has('processSignals')) return;
    const { signal } = params as { readonly signal: string };
    if (signal !== 'interrupt') throw invalidParams(`unknown variant \`${signal}\`, expected \`interrupt\``);
  }
}

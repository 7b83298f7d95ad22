import { expect, it } from 'vitest';
import { resolveLimits } from '../src/options.js';

it('has a default for every limit', () => {
  expect(resolveLimits()).toEqual({
    allowDirectExec: true,
    allowPreparedExec: true,
    cgroups: true,
    sandboxBackend: 'auto',
    acceptNativePaths: false,
    maxConnections: 10_000,
    handshakeMs: 60_000,
    maxSessions: 20_000,
    concurrentRequests: 64,
    pendingRequests: 4096,
    pendingRequestBytes: 134_217_728,
    outboundHighWaterBytes: 1_048_576,
    outboundLowWaterBytes: 262_144,
    outboundTotalBytes: 2_147_483_648,
    inboundTotalBytes: 1_073_741_824,
    attachedProcesses: 1024,
    viewerQueueBytes: 33_554_432,
    maxProcesses: 10_000,
    maxProcessesPerConnection: 1024,
    detachedSessionMs: 30_000,
    signOfLifeMs: 1_000,
    retainedOutputBytes: 1_048_576,
    retainedOutputChunks: 50_000,
    closedProcessRetentionMs: 30_000,
    closedProcessOutputBytes: 268_435_456,
    maxClosedProcesses: 10_000,
    stdinQueueBytes: 1_048_576,
    rememberedWriteIds: 4096,
    httpRequests: 1024,
    httpBufferedBytes: 268_435_456,
    fileWatches: 64,
    watchedDirectories: 65_536,
    pendingFileChanges: 4096,
    spillBytes: 1_073_741_824,
    shutdownGraceMs: 1_500,
  });
});

it.each([
  [{ concurrentRequests: 0 }, 'concurrentRequests'],
  [{ concurrentRequests: 1.5 }, 'concurrentRequests'],
  [{ detachedSessionMs: -1 }, 'detachedSessionMs'],
  [{ retainedOutputBytes: Number.NaN }, 'retainedOutputBytes'],
  [{ maxProcesses: 0 }, 'maxProcesses'],
  [{ spillDirectory: '' }, 'spillDirectory'],
  [{ noSuchLimit: 1 } as object, 'noSuchLimit'],
])('refuses %o', (options, name) => {
  expect(() => resolveLimits(options)).toThrow(RangeError);
  expect(() => resolveLimits(options)).toThrow(name);
});

it('takes zero where zero means at once', () => {
  expect(resolveLimits({ detachedSessionMs: 0 }).detachedSessionMs).toBe(0);
});

import type { Traffic } from '../telemetry/metrics/server-metrics.js';

/** Sockets and files count what goes through them; other streams do not. */
interface CountingInput {
  readonly bytesRead?: number | undefined;
}

interface CountingOutput {
  readonly bytesWritten?: number | undefined;
}

/** Bytes that went through a pair of streams so far, which may be the same stream. */
export function measureTraffic(input: object, output: object): Traffic {
  const { bytesRead = 0 } = input as CountingInput;
  const { bytesWritten = 0 } = output as CountingOutput;
  return { receivedBytes: bytesRead, sentBytes: bytesWritten };
}

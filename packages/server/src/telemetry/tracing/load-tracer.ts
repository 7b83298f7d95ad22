import type { RequestTracer } from './tracer.js';

/** Where every copy of the API, whatever its version, finds the SDK that one of them has registered. */
const REGISTERED = Symbol.for('opentelemetry.js.api.1');

/** The tracer of the SDK that is registered in this process. Where there is none the API is not even loaded. */
export async function loadTracer(): Promise<RequestTracer | undefined> {
  const registered = (globalThis as { [REGISTERED]?: { trace?: unknown } })[REGISTERED];
  if (registered?.trace === undefined) return undefined;
  const { createOpenTelemetryTracer } = await import('./opentelemetry-tracer.js');
  return createOpenTelemetryTracer();
}

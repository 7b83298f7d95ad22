/** The span that a request came from, as its `traceparent` names it. */
export interface TraceParent {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  readonly flags: number;
}

const TRACE_PARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/s;
const ALL_ZERO = /^0+$/;

/** Reads a W3C `traceparent`; nothing when it is none. Versions to come may have more behind what is known. */
export function parseTraceParent(text: string): TraceParent | undefined {
  const [, version, traceId = '', spanId = '', flags = '', rest] = TRACE_PARENT.exec(text) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && rest !== undefined)) return undefined;
  if (ALL_ZERO.test(traceId) || ALL_ZERO.test(spanId)) return undefined;
  return { traceId, spanId, flags: Number.parseInt(flags, 16) };
}

/** Writes what {@link parseTraceParent} reads. */
export function formatTraceParent({ traceId, spanId, flags }: TraceParent): string {
  return `00-${traceId}-${spanId}-${flags.toString(16).padStart(2, '0')}`;
}

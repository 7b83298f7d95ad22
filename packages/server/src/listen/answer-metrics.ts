import type { IncomingMessage } from 'node:http';
import { METRICS_CONTENT_TYPE } from '../telemetry/metrics/format-metrics.js';
import { authenticateUpgrade } from './auth.js';
import type { HttpAnswer } from './http-surface.js';
import { isLoopbackAddress } from './ip-address.js';
import type { ListenOptions } from './listen-options.js';

/** Not to be kept by anybody on the way, and not to be taken for a script. */
const HEADERS = {
  'content-type': METRICS_CONTENT_TYPE,
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
} as const;

/**
 * Answers a request for metrics. Where connections need a credential this needs the same one; where they do not, it is
 * for this machine alone, also when the network may connect. Whoever is one of several hears nothing about the others.
 */
export async function answerMetrics(
  request: IncomingMessage,
  { auth, metrics }: Pick<ListenOptions, 'auth' | 'metrics'>,
): Promise<HttpAnswer> {
  if (metrics === undefined) return { status: 404 };
  if (auth === undefined && !isLoopbackAddress(request.socket.remoteAddress ?? ''))
    return { status: 403, body: 'metrics are for this machine, unless there is authentication' };
  const outcome = await authenticateUpgrade(auth, request.headers);
  if (!outcome.accepted)
    return { status: 401, body: outcome.reason, headers: { 'www-authenticate': 'Bearer' } };
  const about = outcome.seesAllMetrics === true ? 'everybody' : outcome.principal;
  return { status: 200, body: metrics(about), headers: HEADERS };
}

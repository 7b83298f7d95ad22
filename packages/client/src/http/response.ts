import { addAbortListener, removeAbortListener } from '@exec-server/rpc';
import { ExecServerError } from '../errors.js';
import type { HttpResponseStream } from '../low-level/exec-server-client.js';

/** Statuses whose response has no body, not even an empty one. */
const BODILESS: ReadonlySet<number> = new Set([204, 205, 304]);

const MIN_STATUS = 200;
const MAX_STATUS = 599;

/** Where a response comes from. */
export interface ResponseOrigin {
  /** The request that was answered, without its fragment. */
  readonly url: URL;
  /** Whether it took redirects to get there. */
  readonly redirected: boolean;
}

/** A `Response` whose body streams; `signal` ends it with its reason. */
export function toResponse(
  { status, headers, body }: HttpResponseStream,
  origin: ResponseOrigin,
  signal: AbortSignal | undefined,
): Response {
  if (status < MIN_STATUS || status > MAX_STATUS) {
    void body.return?.();
    throw new ExecServerError('http', `${origin.url.origin} answered with status ${status}`);
  }
  const hasBody = !BODILESS.has(status);
  if (!hasBody) void body.return?.();
  const response = new Response(hasBody ? streamBody(body, signal) : null, {
    status,
    headers: headers.map(({ name, value }) => [name, value] as [string, string]),
  });
  return describeOrigin(response, origin);
}

/** A response that a program makes has no URL; this one has. */
function describeOrigin(response: Response, origin: ResponseOrigin): Response {
  const { url, redirected } = origin;
  return Object.defineProperties(response, {
    url: { value: withoutFragment(url) },
    redirected: { value: redirected },
    clone: { value: () => describeOrigin(Response.prototype.clone.call(response), origin) },
  });
}

function withoutFragment(url: URL): string {
  const bare = new URL(url);
  bare.hash = '';
  return bare.href;
}

function streamBody(
  body: AsyncIterator<Uint8Array>,
  signal: AbortSignal | undefined,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  let abort = () => {};
  const unlink = () => removeAbortListener(signal, abort);
  return new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      start(controller) {
        abort = () => {
          controller.error(signal?.reason);
          void body.return?.();
        };
        if (signal?.aborted) abort();
        else addAbortListener(signal, abort);
      },
      async pull(controller) {
        const { done, value } = await body.next().catch((error: unknown) => {
          unlink();
          throw error;
        });
        if (signal?.aborted) return;
        if (done !== true) return controller.enqueue(value as Uint8Array<ArrayBuffer>);
        unlink();
        controller.close();
      },
      async cancel() {
        unlink();
        await body.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}

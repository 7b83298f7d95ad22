import type { Duplex } from 'node:stream';
import { MAX_HTTP_REDIRECTS } from '@exec-server/protocol';
import { dialForRequest } from './dial.js';
import { exchange, type HttpResponse } from './exchange.js';
import type { ServerEnv } from './header-env-vars.js';
import { HttpError } from './http-error.js';
import { withoutCredentials } from './parse-url.js';
import type { OutgoingRequest } from './prepare-request.js';
import { type ProxyRules, readProxyRules } from './proxy-rules.js';
import { redirectedRequest } from './redirect.js';
import { TrustStore } from './trust-store.js';

export interface SendOptions {
  readonly followRedirects: boolean;
  /** Ends the request in whatever state it is, the body included. */
  readonly signal: AbortSignal;
}

/** Asks HTTP servers on behalf of clients, through the proxies and with the trust that the environment names. */
export class HttpClient {
  readonly #env: ServerEnv;
  readonly #trust: TrustStore;
  #rules: ProxyRules | undefined;

  constructor(env: ServerEnv) {
    this.#env = env;
    this.#trust = new TrustStore(env);
  }

  /** Read for the first request: most servers never make one. */
  get #proxies(): ProxyRules {
    this.#rules ??= readProxyRules(this.#env);
    return this.#rules;
  }

  /** Resolves with the head of the last response. Rejects with an {@link HttpError} only. */
  async send(request: OutgoingRequest, { followRedirects, signal }: SendOptions): Promise<HttpResponse> {
    let current = request;
    for (let redirects = 0; ; redirects++) {
      const response = await this.#sendOne(current, signal);
      if (!followRedirects) return response;
      const next = redirectedRequest(current, response.status, response.headers);
      if (next === undefined) return response;
      response.discard();
      if (redirects === MAX_HTTP_REDIRECTS) throw new HttpError('no-response', 'too many redirects');
      current = next;
    }
  }

  async #sendOne(request: OutgoingRequest, signal: AbortSignal): Promise<HttpResponse> {
    const { url, headers, body } = request;
    const proxy = this.#proxies.proxyFor(url);
    let connection: Duplex | undefined;
    try {
      if (!announcesLength(headers, body)) throw new Error('content-length is not the length of the body');
      connection = await dialForRequest(url, { proxy, trust: this.#trust, signal });
      return await exchange(connection, request, proxy);
    } catch (cause) {
      connection?.destroy();
      if (signal.reason instanceof HttpError) throw signal.reason;
      const place = withoutCredentials(url).href;
      throw new HttpError('no-response', `error sending request for url (${place})`, { cause });
    }
  }
}

/** A wrong length would leave the server waiting, or make it read the rest of the body as another request. */
function announcesLength(headers: OutgoingRequest['headers'], body: Buffer): boolean {
  return headers.every(([name, value]) => name !== 'content-length' || value === String(body.length));
}

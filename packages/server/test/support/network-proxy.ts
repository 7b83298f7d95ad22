import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { NetworkProxyConfig } from '@exec-server/protocol';
import { before } from '@exec-server/testing';
import { onTestFinished } from 'vitest';
import type { SendQuestion } from '../../src/network-proxy/ask-client.js';
import type { PolicyDecision } from '../../src/network-proxy/decision.js';
import type { LookupName } from '../../src/network-proxy/name-resolver.js';
import { NetworkProxies } from '../../src/network-proxy/network-proxies.js';

/** A proxy that allows nothing. */
export const CLOSED_PROXY: NetworkProxyConfig = {
  enabled: true,
  enableSocks5: true,
  enableSocks5Udp: true,
  allowUpstreamProxy: false,
  dangerouslyAllowAllUnixSockets: false,
  mode: 'full',
  domains: undefined,
  unixSockets: undefined,
  allowLocalBinding: false,
};

export interface OpenProxyOptions {
  readonly lookup?: LookupName;
  readonly ask?: { readonly send: SendQuestion; readonly timeoutMs: number };
  /** Called at each decision. */
  readonly onDecision?: () => void;
  /** The server's environment. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A running proxy and what it has decided so far. */
export interface OpenProxy {
  /** 0 for what it does not offer. */
  readonly ports: { readonly http: number; readonly socks: number };
  readonly decisions: PolicyDecision[];
  readonly close: () => void;
}

/** Starts a proxy on loopback that ends with the test. */
export async function openProxy(
  changes: Partial<NetworkProxyConfig> = {},
  { lookup, ask, onDecision, env = {} }: OpenProxyOptions = {},
): Promise<OpenProxy> {
  const decisions: PolicyDecision[] = [];
  const proxy = new NetworkProxies(env, lookup).create(
    { ...CLOSED_PROXY, ...changes },
    {
      ask,
      onDecision: (decision) => {
        decisions.push(decision);
        onDecision?.();
      },
    },
  );
  onTestFinished(() => proxy.close());
  const { http, socks = 0 } = await proxy.listenOnLoopback();
  return { ports: { http, socks }, decisions, close: () => proxy.close() };
}

/** A connection to a port of this machine that ends with the test. */
export async function connectToPort(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1' });
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  return socket;
}

/** Everything that comes until the other side ends. */
export async function readAll(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  await before(once(socket, 'close'), () => new Error('the connection did not end'));
  return Buffer.concat(chunks).toString('latin1');
}

/** Sends text to a port and answers with everything that comes back until the end. */
export async function talk(port: number, text: string): Promise<string> {
  const socket = await connectToPort(port);
  const answer = readAll(socket);
  socket.write(text, 'latin1');
  return answer;
}

import type { NetworkProxyConfig } from '@exec-server/protocol';
import { describe, expect, it } from 'vitest';
import { ProxyConfigError } from '../../src/network-proxy/proxy-config-error.js';
import { connectToPort, openProxy, readAll, talk } from '../support/network-proxy.js';
import { respond, startOrigin } from '../support/origin.js';

const request = (host: string) =>
  `GET http://${host}/ HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;

describe('names', () => {
  it.each(['127.0.0.1', '10.1.2.3', '169.254.169.254', '::1', 'fd00::1', '::ffff:127.0.0.1'])(
    'that lead to %s are local, whoever allowed them',
    async (address) => {
      const { ports, decisions } = await openProxy(
        { domains: { 'rebound.example': 'allow' } },
        { lookup: async () => ['1.1.1.1', address] },
      );
      expect(await talk(ports.http, request('rebound.example'))).toMatch(/not_allowed_local/);
      expect(decisions).toMatchObject([{ decision: 'deny', source: 'baseline_policy' }]);
    },
  );

  it('are looked up once: who answers differently the second time is not asked', async () => {
    const origin = await startOrigin((_, socket) => respond(socket, 'inside'));
    const asked: string[] = [];
    const { ports } = await openProxy(
      { domains: { 'rebound.example': 'allow' } },
      {
        lookup: async (name) => {
          asked.push(name);
          // A public address that refuses connections here, and then this machine.
          return asked.length === 1 ? ['255.255.255.254'] : ['127.0.0.1'];
        },
      },
    );
    expect(await talk(ports.http, request(`rebound.example:${origin.port}`))).not.toMatch(/inside/);
    expect(asked).toEqual(['rebound.example']);
    expect(origin.accepted).toBe(0);
  });

  it('lead to the address that was looked at', async () => {
    const origin = await startOrigin((_, socket) => respond(socket, 'found'));
    const { ports } = await openProxy(
      { domains: { 'here.example': 'allow' }, allowLocalBinding: true },
      { lookup: async () => ['127.0.0.1'] },
    );
    expect(await talk(ports.http, request(`here.example:${origin.port}`))).toMatch(/found$/);
    expect(origin.requests[0]).toContain(`Host: here.example:${origin.port}\r\n`);
  });

  it('that nobody knows are not asked for', async () => {
    const { ports } = await openProxy(
      { domains: { '*': 'allow' } },
      { lookup: () => Promise.reject(new Error('ENOTFOUND')) },
    );
    expect(await talk(ports.http, request('nowhere.example'))).toMatch(/not_allowed_local/);
  });
});

describe('who is asked', () => {
  it('may allow what no rule allows', async () => {
    const origin = await startOrigin((_, socket) => respond(socket, 'in'));
    const { ports, decisions } = await openProxy(
      { domains: { '127.0.0.1': 'allow' }, reviewDomains: ['127.0.0.1'] },
      { ask: { send: async () => ({ decision: { type: 'allow' } }), timeoutMs: 1 } },
    );
    expect(await talk(ports.http, request(`127.0.0.1:${origin.port}`))).toMatch(/in$/);
    expect(decisions).toMatchObject([
      { decision: 'allow', source: 'decider', reason: 'not_allowed', policyOverride: true },
    ]);
  });

  it('cannot allow what a rule denies, nor what is local', async () => {
    const { ports, decisions } = await openProxy(
      { domains: { 'a.com': 'deny', 'b.com': 'none' } },
      {
        lookup: async () => ['127.0.0.1'],
        ask: { send: async () => ({ decision: { type: 'allow' } }), timeoutMs: 1 },
      },
    );
    for (const host of ['a.com', '127.0.0.1', 'b.com']) await talk(ports.http, request(host));
    expect(decisions.map(({ reason }) => reason)).toEqual([
      'denied',
      'not_allowed_local',
      'not_allowed_local',
    ]);
  });

  it('is not asked any more once the proxy ends', async () => {
    let signal: AbortSignal | undefined;
    const { ports, close } = await openProxy(
      {},
      {
        ask: {
          timeoutMs: 60_000,
          send: (_target, options) => {
            signal = options.signal;
            return new Promise((_, reject) => {
              options.signal.addEventListener('abort', () => reject(options.signal.reason));
              close();
            });
          },
        },
      },
    );
    expect(await talk(ports.http, request('a.com'))).toBe('');
    expect(signal?.aborted).toBe(true);
  });
});

it('ends its connections with itself', async () => {
  const origin = await startOrigin(() => {});
  const { ports, close } = await openProxy({ domains: { '127.0.0.1': 'allow' } });
  const socket = await connectToPort(ports.http);
  const end = readAll(socket);
  socket.write(`CONNECT 127.0.0.1:${origin.port} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nGET / HTTP/1.1\r\n\r\n`);
  await origin.untilAsked(1);
  close();
  await end;
  await origin.untilAlone();
});

describe('the proxy of the server', () => {
  it('is used where that is allowed, for requests and tunnels', async () => {
    const upstream = await startOrigin((asked, socket) => {
      if (asked.startsWith('CONNECT')) socket.write('HTTP/1.1 200 OK\r\n\r\n');
      else respond(socket, 'through');
    });
    const env = { HTTP_PROXY: `http://user:pw@127.0.0.1:${upstream.port}`, HTTPS_PROXY: upstream.url() };
    const config = { domains: { 'a.example': 'allow' }, allowUpstreamProxy: true } as const;
    const lookup = () => Promise.reject(new Error('ENOTFOUND'));
    const { ports } = await openProxy(config, { env, lookup });
    expect(await talk(ports.http, request('a.example'))).toMatch(/through$/);
    expect(upstream.requests[0]).toMatch(/^GET http:\/\/a\.example:80\/ HTTP\/1\.1\r\n/);
    expect(upstream.requests[0]).toMatch(/Proxy-Authorization: Basic dXNlcjpwdw==/);

    const socket = await connectToPort(ports.http);
    socket.write('CONNECT a.example:443 HTTP/1.1\r\nHost: a.example\r\n\r\n');
    await upstream.untilAsked(2);
    expect(upstream.requests[1]).toMatch(/^CONNECT a\.example:443 HTTP\/1\.1\r\n/);
  });

  it('is not used otherwise', async () => {
    const upstream = await startOrigin((_, socket) => respond(socket, 'through'));
    const env = { HTTP_PROXY: upstream.url() };
    const config = { domains: { '127.0.0.1': 'allow' } } as const;
    const { ports } = await openProxy(config, { env });
    expect(await talk(ports.http, request('127.0.0.1:1'))).toMatch(/^HTTP\/1\.1 502 /);
    expect(upstream.accepted).toBe(0);
  });
});

describe('what cannot be kept is refused', () => {
  it.each<[Partial<NetworkProxyConfig>, string]>([
    [{ enabled: false }, 'executor-local network proxy launch requires an enabled proxy'],
    [{ credentialMasking: true }, 'credential masking is not available on this executor'],
    [
      { unixSockets: { 'run/x.sock': 'allow' } },
      'invalid network.allow_unix_sockets[0]: expected a NUL-free absolute path for Linux, got "run/x.sock"',
    ],
    [{ reviewDomains: [''] }, 'domain pattern is empty'],
  ])('%j', async (config, message) => {
    await expect(openProxy(config)).rejects.toThrow(new ProxyConfigError(message));
  });
});

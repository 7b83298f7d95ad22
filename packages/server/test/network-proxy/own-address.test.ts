import { networkInterfaces } from 'node:os';
import { createExecServer, type ExecServer } from '@exec-server/server';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isOwnEndpoint } from '../../src/network-proxy/own-address.js';
import { openProxy, talk } from '../support/network-proxy.js';
import { respond, startOrigin } from '../support/origin.js';

/** All that rules can allow. */
const OPEN = { domains: { '*': 'allow' }, allowLocalBinding: true } as const;

async function openListener(): Promise<{ server: ExecServer; port: number }> {
  const server = createExecServer();
  onTestFinished(() => server.close());
  const { url } = await server.listen('ws://127.0.0.1:0');
  return { server, port: Number(new URL(url).port) };
}

const forward = (host: string, port: number) =>
  `GET http://${host}:${port}/ HTTP/1.1\r\nHost: ${host}:${port}\r\nConnection: close\r\n\r\n`;
const tunnel = (host: string, port: number) =>
  `CONNECT ${host}:${port} HTTP/1.1\r\nHost: ${host}:${port}\r\n\r\n`;
const socks = (host: string, port: number) =>
  `\x05\x01\x00\x05\x01\x00\x03${String.fromCharCode(host.length)}${host}${String.fromCharCode(port >> 8, port & 0xff)}`;

describe('a proxy that may go everywhere does not lead to a listener of the server', () => {
  it.each([
    '127.0.0.1',
    '127.0.0.2',
    '127.1',
    '0x7f000001',
    '0.0.0.0',
    '0',
    '[::1]',
    '[::]',
    '[::ffff:127.0.0.1]',
    '[::ffff:0:127.0.0.1]',
    '[64:ff9b::7f00:1]',
    'localhost',
    'here.example',
  ])('as %s', async (host) => {
    const { port } = await openListener();
    const { ports, decisions } = await openProxy(OPEN, { lookup: async () => ['1.1.1.1', '127.0.0.1'] });
    expect(await talk(ports.http, forward(host, port))).toMatch(/^HTTP\/1\.1 403 [\s\S]*not_allowed_local/);
    expect(await talk(ports.http, tunnel(host, port))).toMatch(/^HTTP\/1\.1 403 /);
    const bare = host.replace(/^\[|\]$/g, '');
    expect(Buffer.from(await talk(ports.socks, socks(bare, port)), 'latin1')[3]).not.toBe(0);
    for (const decision of decisions) expect(decision).toMatchObject({ decision: 'deny' });
  });

  it('as an address of this machine', async () => {
    const { port } = await openListener();
    const addresses = Object.values(networkInterfaces()).flatMap((found) => found ?? []);
    expect(addresses.length).toBeGreaterThan(0);
    for (const { address } of addresses) expect(isOwnEndpoint(address, port), address).toBe(true);
    expect(isOwnEndpoint('192.0.2.1', port)).toBe(false);
    expect(isOwnEndpoint('2001:db8::1', port)).toBe(false);
  });

  it('through the proxy of the server either', async () => {
    const upstream = await startOrigin((_, socket) => respond(socket, 'passed'));
    const env = { http_proxy: upstream.url(), https_proxy: upstream.url() };
    const { port } = await openListener();
    const { ports } = await openProxy({ ...OPEN, allowUpstreamProxy: true }, { env });
    for (const ask of [forward, tunnel])
      expect(await talk(ports.http, ask('127.0.0.1', port))).toMatch(/^HTTP\/1\.1 403 /);
    expect(upstream.accepted).toBe(0);
  });

  it('only while it listens', async () => {
    const { server, port } = await openListener();
    const { ports, decisions } = await openProxy(OPEN);
    await server.close();
    expect(await talk(ports.http, forward('127.0.0.1', port))).toMatch(/^HTTP\/1\.1 502 /);
    expect(decisions).toMatchObject([{ decision: 'allow' }]);
  });
});

describe('a proxy does not lead to the proxy of another process, whose rules are others', () => {
  it('while that is there', async () => {
    const origin = await startOrigin((_, socket) => respond(socket, 'reached'));
    const wide = await openProxy(OPEN);
    const narrow = await openProxy({ ...OPEN, domains: { '*': 'allow', 'denied.example': 'deny' } });
    for (const port of [wide.ports.http, wide.ports.socks])
      expect(await talk(narrow.ports.http, forward('127.0.0.1', port))).toMatch(/^HTTP\/1\.1 403 /);
    expect(await talk(narrow.ports.http, forward('127.0.0.1', origin.port))).toMatch(/reached$/);
    wide.close();
    await talk(narrow.ports.http, forward('127.0.0.1', wide.ports.http));
    expect(narrow.decisions.map(({ decision }) => decision)).toEqual(['deny', 'deny', 'allow', 'allow']);
  });
});

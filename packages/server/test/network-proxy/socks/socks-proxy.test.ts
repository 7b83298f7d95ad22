import { describe, expect, it } from 'vitest';
import { readExactly } from '../../../src/network-proxy/socks/read-exactly.js';
import { connectToPort, openProxy, readAll, talk } from '../../support/network-proxy.js';
import { respond, startOrigin } from '../../support/origin.js';

const LOCAL = { domains: { '127.0.0.1': 'allow' } } as const;
const HELLO = '\x05\x01\x00';

const wanting = (command: number, host: string, port: number) =>
  Buffer.concat([
    Buffer.of(5, command, 0, 3, host.length),
    Buffer.from(host),
    Buffer.of(port >> 8, port & 0xff),
  ]).toString('latin1');

describe('connections', () => {
  it('carry both directions', async () => {
    const origin = await startOrigin((request, socket) => {
      respond(socket, request.split(' ')[1]);
      socket.end();
    });
    const { ports, decisions } = await openProxy(LOCAL);
    const socket = await connectToPort(ports.socks);
    socket.write(Buffer.from(HELLO, 'latin1'));
    expect([...(await readExactly(socket, 2))]).toEqual([5, 0]);
    socket.write(Buffer.from(wanting(1, '127.0.0.1', origin.port), 'latin1'));
    expect([...(await readExactly(socket, 10))].slice(0, 4)).toEqual([5, 0, 0, 1]);
    const answer = readAll(socket);
    socket.write('GET /in HTTP/1.1\r\n\r\n');
    expect(await answer).toMatch(/\/in$/);
    expect(decisions).toMatchObject([
      { protocol: 'socks5_tcp', host: '127.0.0.1', port: origin.port, decision: 'allow', scope: 'domain' },
    ]);
    expect(decisions[0]).not.toHaveProperty('method');
  });

  it('may be asked for at once, byte by byte or not', async () => {
    const origin = await startOrigin((_, socket) => {
      respond(socket, 'all');
      socket.end();
    });
    const { ports } = await openProxy(LOCAL);
    const words = `${HELLO}${wanting(1, '127.0.0.1', origin.port)}GET / HTTP/1.1\r\n\r\n`;
    expect(await talk(ports.socks, words)).toMatch(/all$/);
    const socket = await connectToPort(ports.socks);
    socket.setNoDelay(true);
    const answer = readAll(socket);
    for (const byte of Buffer.from(words, 'latin1')) socket.write(Buffer.of(byte));
    expect(await answer).toMatch(/all$/);
  });

  it.each([
    ['no rule', {}, 'a.com', 443, 2],
    ['a denied host', { domains: { 'a.com': 'deny' } }, 'a.com', 443, 2],
    ['a local one', {}, '127.0.0.1', 443, 2],
    ['nobody there', LOCAL, '127.0.0.1', 1, 5],
    ['what is no host', LOCAL, 'a b', 1, 8],
    ['two hosts', { domains: { '*.a.com': 'allow' } }, 'a.com,b.a.com', 1, 8],
    ['port 0', LOCAL, '127.0.0.1', 0, 8],
    ['limited, any port', { ...LOCAL, mode: 'limited' }, '127.0.0.1', 80, 2],
    ['limited, HTTPS', { ...LOCAL, mode: 'limited' }, '127.0.0.1', 443, 2],
  ] as const)('are refused: %s', async (_name, config, host, port, reply) => {
    const { ports } = await openProxy(config);
    const answer = await talk(ports.socks, `${HELLO}${wanting(1, host, port)}`);
    expect([...Buffer.from(answer, 'latin1')]).toEqual([5, 0, 5, reply, 0, 1, 0, 0, 0, 0, 0, 0]);
  });

  it('to another port than that of HTTPS are no matter of the host in limited mode', async () => {
    const { ports, decisions } = await openProxy({ ...LOCAL, mode: 'limited' });
    await talk(ports.socks, `${HELLO}${wanting(1, '127.0.0.1', 80)}`);
    await talk(ports.socks, `${HELLO}${wanting(1, '127.0.0.1', 443)}`);
    expect(decisions.map(({ scope, reason }) => [scope, reason])).toEqual([
      ['non_domain', 'method_not_allowed'],
      ['domain', 'allow'],
      ['non_domain', 'mitm_required'],
    ]);
  });
});

describe('what is not understood', () => {
  it.each([
    ['a password is wanted', '\x05\x01\x02', [5, 255]],
    ['no method', '\x05\x00', [5, 255]],
    ['SOCKS4', '\x04\x01\x00\x50', []],
    ['HTTP', 'GET / HTTP/1.1\r\n\r\n', []],
    ['binding', `${HELLO}${wanting(2, 'a.com', 1)}`, [5, 0, 5, 7, 0, 1, 0, 0, 0, 0, 0, 0]],
    ['an unknown type of address', `${HELLO}\x05\x01\x00\x07\x00`, [5, 0, 5, 8, 0, 1, 0, 0, 0, 0, 0, 0]],
  ])('%s', async (_name, words, answer) => {
    const { ports } = await openProxy();
    expect([...Buffer.from(await talk(ports.socks, words), 'latin1')]).toEqual(answer);
  });

  it('datagrams, where they are not offered', async () => {
    const { ports } = await openProxy({ enableSocks5Udp: false });
    const answer = await talk(ports.socks, `${HELLO}${wanting(3, '0.0.0.0', 0)}`);
    expect(Buffer.from(answer, 'latin1')[3]).toBe(7);
  });
});

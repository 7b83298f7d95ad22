import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { before } from '@exec-server/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { decodeAddress, encodeAddress } from '../../../src/network-proxy/socks/messages.js';
import { readExactly } from '../../../src/network-proxy/socks/read-exactly.js';
import { MAX_DESTINATIONS, MAX_WAITING_DATAGRAMS } from '../../../src/network-proxy/socks/udp-association.js';
import { MAX_ASSOCIATIONS } from '../../../src/network-proxy/socks/udp-relay.js';
import { connectToPort, type OpenProxy, openProxy } from '../../support/network-proxy.js';

const LOCAL = { domains: { '127.0.0.1': 'allow' } } as const;

async function openUdp(): Promise<UdpSocket> {
  const socket = createSocket('udp4');
  onTestFinished(() => void socket.close());
  socket.bind({ address: '127.0.0.1' });
  await once(socket, 'listening');
  return socket;
}

const nextMessage = async (socket: UdpSocket): Promise<Buffer> => {
  const [data] = await before(once(socket, 'message'), () => new Error('no datagram came'));
  return data as Buffer;
};

/** Asks for an association; answers with the reply and the relay's port. */
async function associate(
  { ports }: OpenProxy,
  port = 0,
): Promise<{ control: Socket; reply: number | undefined; relay: number }> {
  const control = await connectToPort(ports.socks);
  control.write(Buffer.of(5, 1, 0, 5, 3, 0, 1, 0, 0, 0, 0, port >> 8, port & 0xff));
  const answer = await readExactly(control, 12);
  return { control, reply: answer[3], relay: answer.readUInt16BE(10) };
}

const datagram = (address: string, port: number, text: string, fragment = 0) =>
  Buffer.concat([Buffer.of(0, 0, fragment), encodeAddress(address, port), Buffer.from(text)]);

/** A server that answers each datagram with its text in capitals. */
async function openEcho(): Promise<number> {
  const echo = await openUdp();
  echo.on('message', (data, from) => echo.send(data.toString().toUpperCase(), from.port, from.address));
  return echo.address().port;
}

describe('datagrams', () => {
  it('go out and their answers come back, each to whom it belongs', async () => {
    const echo = await openEcho();
    const proxy = await openProxy(LOCAL);
    const programs = [];
    for (const word of ['one', 'two']) {
      const program = await openUdp();
      const { relay } = await associate(proxy, program.address().port);
      programs.push({ program, relay, word });
    }
    for (const { program, relay, word } of programs) {
      const answer = nextMessage(program);
      program.send(datagram('127.0.0.1', echo, word), relay, '127.0.0.1');
      const bytes = await answer;
      const from = decodeAddress(bytes[3] ?? 0, bytes.subarray(4));
      expect(from?.authority).toEqual({ host: '127.0.0.1', port: echo });
      expect(bytes.subarray(4 + (from?.end ?? 0)).toString()).toBe(word.toUpperCase());
    }
  });

  it('are decided about once for each destination', async () => {
    const echo = await openEcho();
    const proxy = await openProxy(LOCAL);
    const program = await openUdp();
    const { relay } = await associate(proxy);
    for (const word of ['a', 'b', 'c']) {
      const answer = nextMessage(program);
      program.send(datagram('127.0.0.1', echo, word), relay, '127.0.0.1');
      await answer;
    }
    expect(proxy.decisions).toMatchObject([{ protocol: 'socks5_udp', port: echo, decision: 'allow' }]);
  });

  it.each([
    ['limited', { ...LOCAL, mode: 'limited' }, 'method_not_allowed'],
    ['not allowed', {}, 'not_allowed_local'],
  ] as const)('that may not be sent are lost: %s', async (_name, config, reason) => {
    const target = await openUdp();
    const heard: unknown[] = [];
    target.on('message', (data) => heard.push(data));
    let decided: () => void = () => {};
    const decision = new Promise<void>((resolve) => {
      decided = resolve;
    });
    const proxy = await openProxy(config, { onDecision: () => decided() });
    const program = await openUdp();
    const { relay } = await associate(proxy);
    program.send(datagram('127.0.0.1', target.address().port, 'x'), relay, '127.0.0.1');
    await before(decision, () => new Error('nothing was decided'));
    expect(proxy.decisions).toMatchObject([{ decision: 'deny', reason }]);
    expect(heard).toEqual([]);
  });

  it('of strangers, fragments and garbage are ignored', async () => {
    const echo = await openEcho();
    const proxy = await openProxy(LOCAL);
    const program = await openUdp();
    const stranger = await openUdp();
    const { relay } = await associate(proxy, program.address().port);
    stranger.send(datagram('127.0.0.1', echo, 'stranger'), relay, '127.0.0.1');
    program.send(datagram('127.0.0.1', echo, 'fragment', 1), relay, '127.0.0.1');
    program.send(Buffer.of(0, 0, 0, 9), relay, '127.0.0.1');
    const answer = nextMessage(program);
    program.send(datagram('127.0.0.1', echo, 'real'), relay, '127.0.0.1');
    expect((await answer).toString('latin1')).toMatch(/REAL$/);
    expect(proxy.decisions).toHaveLength(1);
  });
});

describe('limits of an association', () => {
  it('places beyond so many are not even asked about', async () => {
    const echo = await openEcho();
    let decided: () => void = () => {};
    const proxy = await openProxy(LOCAL, { onDecision: () => decided() });
    const program = await openUdp();
    const { relay } = await associate(proxy);
    const send = (port: number) => program.send(datagram('127.0.0.1', port, 'x'), relay, '127.0.0.1');
    for (const port of [echo, ...Array.from({ length: MAX_DESTINATIONS - 1 }, (_, index) => 1 + index)]) {
      const decision = new Promise<void>((resolve) => {
        decided = resolve;
      });
      send(port);
      await decision;
    }
    expect(proxy.decisions).toHaveLength(MAX_DESTINATIONS);
    send(MAX_DESTINATIONS);
    const answer = nextMessage(program);
    send(echo);
    expect((await answer).toString('latin1')).toMatch(/X$/);
    expect(proxy.decisions).toHaveLength(MAX_DESTINATIONS);
  });

  it.each([
    [MAX_WAITING_DATAGRAMS - 1, MAX_WAITING_DATAGRAMS - 1],
    [MAX_WAITING_DATAGRAMS, MAX_WAITING_DATAGRAMS],
    [MAX_WAITING_DATAGRAMS + 1, MAX_WAITING_DATAGRAMS],
  ])('of %i datagrams that wait for a decision %i are sent after it', async (count, sent) => {
    const [echo, target] = [await openEcho(), await openUdp()];
    const { port } = target.address();
    const allowed = { decision: { type: 'allow' } };
    let decide: () => void = () => {};
    const held = new Promise((resolve) => {
      decide = () => resolve(allowed);
    });
    const proxy = await openProxy(
      { ...LOCAL, reviewDomains: ['*'] },
      { ask: { timeoutMs: 60_000, send: async (asked) => (asked.port === port ? held : allowed) } },
    );
    const [program, other] = [await openUdp(), await openUdp()];
    const { relay } = await associate(proxy, program.address().port);
    await associate(proxy, other.address().port);
    const send = (text: string) => program.send(datagram('127.0.0.1', port, text), relay, '127.0.0.1');
    for (let index = 0; index < count; index++) send('x');
    // All programs hand in their datagrams at one port, so that an answer to this one means that the others were seen.
    const seen = nextMessage(other);
    other.send(datagram('127.0.0.1', echo, 'seen'), relay, '127.0.0.1');
    await seen;
    const heard: string[] = [];
    const isOver = new Promise<void>((resolve) => {
      target.on('message', (data) => (data.toString() === 'x' ? heard.push('x') : resolve()));
    });
    decide();
    await nextMessage(target);
    send('last');
    await isOver;
    expect(heard).toHaveLength(sent);
  });
});

describe('associations', () => {
  it('end with their connection, and make room', async () => {
    const proxy = await openProxy(LOCAL);
    const open = [];
    for (let count = 0; count < MAX_ASSOCIATIONS; count++) open.push(await associate(proxy));
    expect(open.every(({ reply }) => reply === 0)).toBe(true);
    expect((await associate(proxy)).reply).toBe(1);
    const [first] = open;
    first?.control.end();
    await once(first?.control as Socket, 'close');
    expect((await associate(proxy)).reply).toBe(0);
  });
});

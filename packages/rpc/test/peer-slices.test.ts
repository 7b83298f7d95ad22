import { describe, expect, test } from 'vitest';
import { Peer, type PeerOptions, type Transport } from '../src/index.js';
import type { TransportHandlers } from '../src/transport.js';
import { openManualTurns } from './support/manual-turns.js';

/** A peer whose messages take a millisecond each of slices of two. */
function startPeer(options: Partial<PeerOptions> = {}) {
  const turns = openManualTurns(2);
  let handlers!: TransportHandlers;
  const transport: Transport = {
    label: 'exec-server near',
    framing: 'lines',
    bufferedBytes: 0,
    open(given) {
      handlers = given;
    },
    send() {},
    sendBytes() {},
    pause() {},
    resume() {},
    close: () => handlers.onClose(undefined),
    destroy: (reason) => handlers.onClose(reason),
  };
  const log: string[] = [];
  const peer = new Peer(transport, {
    parseErrors: 'answer',
    onRequest({ id }) {
      log.push(String(id));
      turns.pass(1);
    },
    onNotification() {},
    onClose: () => void log.push('closed'),
    slices: turns.slices,
    ...options,
  });
  const ask = (id: number) => handlers.onMessage(JSON.stringify({ id, method: 'm' }));
  return { ...turns, peer, handlers, log, ask };
}

describe('a peer with slices', () => {
  test('handles what fits into a turn, and the rest in order in those that follow', () => {
    const { ask, log, turn } = startPeer();
    for (let id = 1; id <= 5; id++) ask(id);
    expect(log).toEqual(['1', '2']);
    turn();
    expect(log).toEqual(['1', '2', '3', '4']);
    turn();
    expect(log).toEqual(['1', '2', '3', '4', '5']);
  });

  test('handles everything that came before the end of the connection, then tells the end', () => {
    const { ask, handlers, log, turn } = startPeer();
    for (let id = 1; id <= 3; id++) ask(id);
    handlers.onClose('gone');
    expect(log).toEqual(['1', '2']);
    while (turn());
    expect(log).toEqual(['1', '2', '3', 'closed']);
  });

  test('drops what waits when it closes by itself', () => {
    const { ask, log, peer, turn } = startPeer();
    for (let id = 1; id <= 3; id++) ask(id);
    peer.close();
    while (turn());
    expect(log).toEqual(['1', '2', 'closed']);
  });

  test('finishes what waits before the end of a half-open input', () => {
    const { ask, handlers, log, turn } = startPeer({ endOfInputGraceMs: 0 });
    for (let id = 1; id <= 3; id++) ask(id);
    handlers.onEnd?.();
    expect(log).toEqual(['1', '2']);
    turn();
    expect(log).toEqual(['1', '2', '3']);
  });

  test('keeps a long message that has to wait, whatever becomes of its bytes', () => {
    const read: string[] = [];
    const { ask, handlers, log, turn } = startPeer({
      readLongRequest(bytes) {
        const text = Buffer.from(bytes).toString();
        read.push(text);
        return text.startsWith('take')
          ? { kind: 'request', id: text.slice(5), method: 'm', params: undefined }
          : undefined;
      },
    });
    ask(1);
    ask(2);
    const bytes = Buffer.from('take long');
    expect(handlers.onLongMessage?.(bytes)).toBe(true);
    bytes.fill(0);
    expect(handlers.onLongMessage?.(Buffer.from('{"id":"text","method":"m"}'))).toBe(true);
    ask(3);
    expect(read).toEqual([]);
    while (turn());
    expect(log).toEqual(['1', '2', 'long', 'text', '3']);
  });
});

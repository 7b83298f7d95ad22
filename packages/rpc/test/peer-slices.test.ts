import { MalformedMessageError } from '@exec-server/protocol';
import { describe, expect, test } from 'vitest';
import { type LongMessageReader, Peer, type PeerOptions, type Transport } from '../src/index.js';
import type { TransportHandlers } from '../src/transport.js';
import { openManualTurns } from './support/manual-turns.js';

/** A peer whose messages take a millisecond each of slices of two. */
function startPeer(
  options: Partial<PeerOptions> = {},
  openReader?: (turns: ReturnType<typeof openManualTurns>) => PeerOptions['readLong'],
) {
  const turns = openManualTurns(2);
  const readLong = openReader?.(turns);
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
    ...(readLong && { readLong }),
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

  /** Takes a millisecond for each of its bytes. */
  function openSlowReader(turns: ReturnType<typeof openManualTurns>) {
    return (given: Uint8Array): LongMessageReader => {
      let bytes = given;
      let at = 0;
      return {
        read(hasTime) {
          while (at < bytes.length) {
            if (!hasTime()) return undefined;
            turns.pass(1);
            at += 1;
          }
          const id = Buffer.from(bytes).toString();
          if (id.startsWith('bad')) throw new MalformedMessageError('bad message');
          return { kind: 'request', id, method: 'm', params: undefined };
        },
        keepBytes() {
          bytes = new Uint8Array(bytes);
        },
      };
    };
  }

  test('reads a long message in pieces, and what comes after it then', () => {
    const { ask, handlers, log, turn } = startPeer({}, openSlowReader);
    const bytes = Buffer.from('longer');
    handlers.onLongMessage?.(bytes);
    bytes.fill(0);
    ask(1);
    expect(log).toEqual([]);
    turn();
    expect(log).toEqual([]);
    while (turn());
    expect(log).toEqual(['longer', '1']);
  });

  test('keeps a long message that has to wait, whatever becomes of its bytes', () => {
    const { ask, handlers, log, turn } = startPeer({}, openSlowReader);
    ask(1);
    ask(2);
    const bytes = Buffer.from('long');
    handlers.onLongMessage?.(bytes);
    bytes.fill(0);
    ask(3);
    while (turn());
    expect(log).toEqual(['1', '2', 'long', '3']);
  });

  test('refuses a long message that makes no sense, and goes on', () => {
    const { ask, handlers, log, turn } = startPeer({ parseErrors: 'ignore' }, openSlowReader);
    handlers.onLongMessage?.(Buffer.from('bad one'));
    ask(1);
    while (turn());
    expect(log).toEqual(['1']);
  });

  test('drops the long message that it reads when it closes', () => {
    const { handlers, log, peer, turn } = startPeer({}, openSlowReader);
    handlers.onLongMessage?.(Buffer.from('long'));
    peer.close();
    while (turn());
    expect(log).toEqual(['closed']);
  });
});

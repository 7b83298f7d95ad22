import { MalformedMessageError } from '@exec-server/protocol';
import { describe, expect, test } from 'vitest';
import { type LongMessageReader, Peer, type PeerOptions, type Transport } from '../src/index.js';
import type { TransportHandlers } from '../src/transport.js';
import { openManualTurns } from './support/manual-turns.js';

/** A peer whose messages take a millisecond each of slices of two. */
function startPeer(
  options: Partial<{ [Name in keyof PeerOptions]: PeerOptions[Name] | undefined }> = {},
  openReader?: (turns: ReturnType<typeof openManualTurns>) => PeerOptions['readLong'],
  send: (text: string) => void = () => {},
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
    send,
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
  } as PeerOptions);
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

  /** Takes a millisecond for each of its bytes, which are the id of a request. */
  function openSlowReader(turns: ReturnType<typeof openManualTurns>) {
    return (bytes: Uint8Array): LongMessageReader => {
      let at = 0;
      const text = () => Buffer.from(bytes).toString();
      return {
        read(hasTime) {
          for (; at < bytes.length; at++) {
            if (!hasTime()) return undefined;
            turns.pass(1);
          }
          if (text().startsWith('bad')) throw new MalformedMessageError('bad message');
          return { kind: 'request', id: text(), method: 'm', params: undefined };
        },
        isBlank: text() === 'bad blank',
      };
    };
  }

  /** Tells the peer a long message, and the log when its memory is given back. */
  function tellLong({ handlers, log }: ReturnType<typeof startPeer>, text: string): void {
    const bytes = Buffer.from(text);
    const keep = () => {
      const kept = Buffer.from(bytes);
      return {
        bytes: kept,
        release() {
          kept.fill(0);
          log.push('released');
        },
      };
    };
    handlers.onLongMessage?.(bytes, keep);
    bytes.fill(0);
  }

  test('reads a long message in pieces, and handles what comes after it then', () => {
    const started = startPeer({}, openSlowReader);
    const { ask, log, turn } = started;
    tellLong(started, 'longer');
    ask(1);
    expect(log).toEqual([]);
    turn();
    expect(log).toEqual([]);
    while (turn());
    expect(log).toEqual(['released', 'longer', '1']);
  });

  test('keeps a long message that has to wait, whatever becomes of its bytes', () => {
    const started = startPeer({}, openSlowReader);
    const { ask, log, turn } = started;
    ask(1);
    ask(2);
    tellLong(started, 'long');
    ask(3);
    while (turn());
    expect(log).toEqual(['1', '2', 'released', 'long', '3']);
  });

  test('keeps nothing of a long message that is read at once', () => {
    const readLongRequest = (bytes: Uint8Array) =>
      ({ kind: 'request', id: Buffer.from(bytes).toString(), method: 'm', params: undefined }) as const;
    const started = startPeer({ readLongRequest }, openSlowReader);
    tellLong(started, 'long');
    expect(started.log).toEqual(['long']);
    started.ask(1);
    tellLong(started, 'late');
    while (started.turn());
    expect(started.log).toEqual(['long', '1', 'released', 'late']);
  });

  test('refuses a long message that makes no sense, and goes on', () => {
    const sent: string[] = [];
    const started = startPeer({}, openSlowReader, (text) => void sent.push(text));
    const { ask, log, turn } = started;
    tellLong(started, 'bad one');
    tellLong(started, 'bad blank');
    ask(1);
    while (turn());
    expect(log).toEqual(['released', 'released', '1']);
    // A blank line is nothing at all.
    expect(sent.map((text) => JSON.parse(text))).toMatchObject([{ id: -1 }]);
  });

  test('drops the long messages that it reads or has yet to read when it closes', () => {
    const started = startPeer({}, openSlowReader);
    const { log, peer, turn } = started;
    tellLong(started, 'long');
    tellLong(started, 'next');
    peer.close();
    while (turn());
    expect(log).toEqual(['released', 'released', 'closed']);
  });

  test('without slices reads a long message at once', () => {
    const { slices: _, ...turns } = openManualTurns(2);
    const started = startPeer({ slices: undefined }, () => openSlowReader(turns as never));
    tellLong(started, 'long');
    expect(started.log).toEqual(['released', 'long']);
  });
});

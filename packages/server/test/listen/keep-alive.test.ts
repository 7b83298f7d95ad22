import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DEFAULT_KEEP_ALIVE_LIMITS, KeepAlive } from '../../src/listen/keep-alive.js';
import { FakeClock } from '../support/fake-clock.js';

const { pingIntervalMs, blockedReaderMs } = DEFAULT_KEEP_ALIVE_LIMITS;

class Peer {
  pings = 0;
  unsent = false;
  progress = 0;
  paused = false;
  dropped: string | undefined;
  ping = () => {
    this.pings += 1;
  };
  hasUnsentBytes = () => this.unsent;
  sendProgress = () => this.progress;
  isReadingPaused = () => this.paused;
  drop = (reason: string) => {
    this.dropped = reason;
  };
}

let clock: FakeClock;
let peer: Peer;
let keepAlive: KeepAlive;

beforeEach(() => {
  clock = new FakeClock();
  peer = new Peer();
  keepAlive = new KeepAlive(peer, clock, DEFAULT_KEEP_ALIVE_LIMITS);
});
afterEach(() => keepAlive.stop());

const passIntervals = (count: number, each = () => {}) => {
  for (let i = 0; i < count; i += 1) {
    clock.advance(pingIntervalMs);
    each();
  }
};

it('pings every 30 seconds', () => {
  expect(pingIntervalMs).toBe(30_000);
  clock.advance(pingIntervalMs - 1);
  expect(peer.pings).toBe(0);
  clock.advance(1);
  expect(peer.pings).toBe(1);
  keepAlive.heardFromPeer();
  clock.advance(pingIntervalMs);
  expect(peer.pings).toBe(2);
});

describe('unanswered pings', () => {
  it('keeps a peer that missed one', () => {
    passIntervals(2);
    keepAlive.heardFromPeer();
    passIntervals(2);
    expect(peer).toMatchObject({ pings: 4, dropped: undefined });
  });

  it('drops a peer that missed two, and pings it no more', () => {
    passIntervals(2);
    clock.advance(pingIntervalMs - 1);
    expect(peer.dropped).toBeUndefined();
    clock.advance(1);
    expect(peer).toMatchObject({ pings: 2, dropped: 'the peer did not answer 2 pings' });
    peer.dropped = undefined;
    passIntervals(5);
    expect(peer).toMatchObject({ pings: 2, dropped: undefined });
  });

  it('does not count while we do not read the answers', () => {
    peer.paused = true;
    passIntervals(10);
    expect(peer).toMatchObject({ pings: 10, dropped: undefined });
    peer.paused = false;
    passIntervals(2);
    expect(peer.dropped).toBeUndefined();
    passIntervals(1);
    expect(peer.dropped).toBeDefined();
  });
});

describe('a peer that does not read', () => {
  beforeEach(() => {
    peer.unsent = true;
  });

  it('is not pinged, and lives for ten minutes without progress', () => {
    expect(blockedReaderMs).toBe(600_000);
    passIntervals(1 + blockedReaderMs / pingIntervalMs - 1);
    expect(peer).toMatchObject({ pings: 0, dropped: undefined });
    passIntervals(1);
    expect(peer.dropped).toBe('the peer has read nothing for 600 seconds');
  });

  it('lives as long as a single byte moves in that time', () => {
    for (let round = 0; round < 4; round += 1) {
      passIntervals(blockedReaderMs / pingIntervalMs);
      peer.progress += 1;
    }
    expect(peer.dropped).toBeUndefined();
  });

  it('starts anew when the queue was empty in between', () => {
    passIntervals(blockedReaderMs / pingIntervalMs);
    peer.unsent = false;
    passIntervals(1);
    peer.unsent = true;
    passIntervals(blockedReaderMs / pingIntervalMs);
    expect(peer.dropped).toBeUndefined();
    passIntervals(1);
    expect(peer.dropped).toBeDefined();
  });

  it('owes no answers to pings from before', () => {
    peer.unsent = false;
    passIntervals(2);
    peer.unsent = true;
    passIntervals(1);
    peer.unsent = false;
    passIntervals(2);
    expect(peer.dropped).toBeUndefined();
    passIntervals(1);
    expect(peer.dropped).toBe('the peer did not answer 2 pings');
  });
});

it('does nothing once stopped', () => {
  keepAlive.stop();
  passIntervals(10);
  expect(peer).toMatchObject({ pings: 0, dropped: undefined });
});

import { describe, expect, it } from 'vitest';
import { createHostGuard } from '../../src/listen/host-guard.js';

const guard = (boundAddress: string, allowedHosts: string[] = []) =>
  createHostGuard({ boundAddress, allowedHosts });

describe('bound to loopback', () => {
  it.each([
    '127.0.0.1:7711',
    '127.0.0.1',
    '127.9.9.9:1',
    'localhost:7711',
    'LOCALHOST',
    '[::1]:7711',
    '[::1]',
  ])('takes %s', (host) => {
    expect(guard('127.0.0.1')(host)).toBe(true);
  });

  it.each([
    'evil.example:7711',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '192.168.1.5',
    '[::2]:7711',
    '127.1',
    '2130706433',
    '[::1].evil.example',
    '::1',
    '',
  ])('refuses %j', (host) => {
    expect(guard('127.0.0.1')(host)).toBe(false);
  });
});

it.each(['0.0.0.0', '::', '192.168.1.5'])('bound to %s it takes any address but no name', (bound) => {
  expect(guard(bound)('10.1.2.3:7711')).toBe(true);
  expect(guard(bound)('[2001:db8::1]:7711')).toBe(true);
  expect(guard(bound)('localhost:7711')).toBe(true);
  expect(guard(bound)('evil.example:7711')).toBe(false);
});

it('takes allowed names with any port, or with the one they name', () => {
  const isOwnHost = guard('127.0.0.1', ['Box.example', 'other.example:8443']);
  expect(isOwnHost('box.example')).toBe(true);
  expect(isOwnHost('BOX.example:1')).toBe(true);
  expect(isOwnHost('other.example:8443')).toBe(true);
  expect(isOwnHost('other.example:8444')).toBe(false);
  expect(isOwnHost('sub.box.example')).toBe(false);
});

it('takes a request without the header, which no browser sends', () => {
  expect(guard('127.0.0.1')(undefined)).toBe(true);
});

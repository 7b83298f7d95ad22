import { describe, expect, expectTypeOf, it } from 'vitest';
import {
  CLIENT_NOTIFICATIONS,
  isClientNotification,
  isMethod,
  isServerNotification,
  isServerRequest,
  METHODS,
  type NotificationParams,
  type ParamsOf,
  type ProcessStartParams,
  type ResultOf,
  SERVER_NOTIFICATIONS,
  SERVER_REQUESTS,
} from '../src/index.js';
import { PURPOSES } from '../src/purposes.js';

it('pins the requests, their families and their lanes', () => {
  const table = Object.entries(METHODS).map(([name, { family, lane }]) => `${name} | ${family} | ${lane}`);
  expect(table.sort()).toEqual([
    'capabilities/discoverV2 | capability discovery | ordinary',
    'capabilityRoots/discoverV1 | capability discovery | ordinary',
    'environment/info | environment info | control',
    'environment/status | environment status | control',
    'environmentConfig/read | environment config | ordinary',
    'fs/canonicalize | filesystem | ordinary',
    'fs/close | filesystem | ordinary',
    'fs/copy | filesystem | ordinary',
    'fs/createDirectory | filesystem | ordinary',
    'fs/getMetadata | filesystem | ordinary',
    'fs/open | filesystem | ordinary',
    'fs/readBlock | filesystem | ordinary',
    'fs/readDirectory | filesystem | ordinary',
    'fs/readFile | filesystem | ordinary',
    'fs/readLink | filesystem | ordinary',
    'fs/remove | filesystem | ordinary',
    'fs/rename | filesystem | ordinary',
    'fs/setMode | filesystem | ordinary',
    'fs/symlink | filesystem | ordinary',
    'fs/unwatch | filesystem | ordinary',
    'fs/walk | filesystem | ordinary',
    'fs/watch | filesystem | ordinary',
    'fs/watchMissing | filesystem | ordinary',
    'fs/writeBlock | filesystem | ordinary',
    'fs/writeFile | filesystem | ordinary',
    'http/cancel | http | control',
    'http/request | http | ordinary',
    'initialize | handshake | handshake',
    'net/waitForPort | network | ordinary',
    'process/attach | exec | ordinary',
    'process/closeStdin | exec | ordinary',
    'process/detach | exec | control',
    'process/hold | exec | control',
    'process/list | exec | ordinary',
    'process/read | exec | ordinary',
    'process/remove | exec | ordinary',
    'process/resize | exec | control',
    'process/signal | exec | control',
    'process/snapshot | exec | ordinary',
    'process/start | exec | ordinary',
    'process/startPrepared | exec | ordinary',
    'process/terminate | exec | control',
    'process/wait | exec | ordinary',
    'process/write | exec | ordinary',
    'session/end | exec | control',
  ]);
});

it('pins the other messages', () => {
  expect(Object.keys(CLIENT_NOTIFICATIONS)).toEqual(['initialized']);
  expect(Object.keys(SERVER_REQUESTS)).toEqual(['client/status', 'network/policyRequest']);
  expect(Object.keys(SERVER_NOTIFICATIONS)).toEqual([
    'process/output',
    'process/exited',
    'process/closed',
    'process/started',
    'process/failed',
    'process/lagged',
    'http/request/bodyDelta',
    'fs/changed',
    'fs/missingChanged',
    'network/policyDecision',
  ]);
});

it('says what each is for', () => {
  const names = [METHODS, CLIENT_NOTIFICATIONS, SERVER_NOTIFICATIONS, SERVER_REQUESTS].flatMap(Object.keys);
  expect(Object.keys(PURPOSES).sort()).toEqual(names.sort());
});

describe('lookup', () => {
  it('finds the names of the table', () => {
    expect(isMethod('process/start')).toBe(true);
    expect(isServerNotification('process/output')).toBe(true);
    expect(isClientNotification('initialized')).toBe(true);
    expect(isServerRequest('network/policyRequest')).toBe(true);
  });

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty', '', 'nope'])(
    'does not find %j',
    (name) => {
      expect(
        [isMethod, isServerNotification, isClientNotification, isServerRequest].some((is) => is(name)),
      ).toBe(false);
    },
  );
});

it('gives types by name', () => {
  expectTypeOf<ParamsOf<'process/start'>>().toEqualTypeOf<ProcessStartParams>();
  expectTypeOf<ParamsOf<'environment/info'>>().toEqualTypeOf<null>();
  expectTypeOf<ResultOf<'process/terminate'>>().toEqualTypeOf<{
    running: boolean;
    pids?: number[] | undefined;
  }>();
  expectTypeOf<NotificationParams<'process/closed'>>().toEqualTypeOf<{
    processId: string;
    seq: number;
    sessionId?: string | undefined;
  }>();
});

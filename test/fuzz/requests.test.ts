import { readdirSync } from 'node:fs';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { METHODS, nativeToPathUri } from '@exec-server/protocol';
import { createExecServer, type ExecServer } from '@exec-server/server';
import { openInProcessWire } from '@exec-server/testing';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { openSession } from '../../packages/server/test/support/session.js';
import { anyText } from './json-text.js';
import { testProperty } from './property.js';
import { answerOrEnd, expectAnswers, randomRequests } from './random-requests.js';
import type { Replacements } from './schema-values.js';

const directory = await mkdtemp(join(await realpath(tmpdir()), 'exec-server-fuzz-'));
const home = join(directory, 'home');
const server: ExecServer = createExecServer({
  env: { PATH: '/usr/bin:/bin', HOME: home, CODEX_HOME: home },
  spillDirectory: join(directory, 'spill'),
});
afterAll(async () => {
  await server.close();
  await rm(directory, { recursive: true, force: true });
});

const name = fc.constantFrom('a', 'b', 'c d', 'é', 'x%2F');
const path = fc
  .array(name, { minLength: 1, maxLength: 3 })
  .map((names) => nativeToPathUri(join(directory, ...names)));
const id = fc.constantFrom('a', 'b', 'c');
const soon = fc.nat({ max: 3 });
const program = fc.constantFrom(
  ['/bin/true'],
  ['/bin/sh', '-c', 'echo out; echo err >&2; exit 3'],
  ['nothing'],
  [],
);

/** Members whose random values would meet nothing, wait for long, leave this machine or touch what is not ours. */
const REPLACEMENTS: Replacements = {
  path,
  sourcePath: path,
  destinationPath: path,
  cwd: fc.oneof(fc.constant(nativeToPathUri(directory)), path),
  missing: fc.array(path, { maxLength: 3 }),
  present: path,
  target: name,
  argv: program,
  program: fc.constantFrom('/bin/true', '/nonexistent'),
  arg0: fc.constant('zero'),
  env: fc.constant({ PATH: '/usr/bin:/bin' }),
  processId: id,
  handleId: id,
  watchId: id,
  requestId: id,
  url: fc.constantFrom('http://127.0.0.1:1/', 'nonsense', 'ftp://127.0.0.1/'),
  host: fc.constant('127.0.0.1'),
  waitMs: soon,
  timeoutMs: soon,
  graceMs: soon,
  keepAliveMs: soon,
  mode: fc.constantFrom(null, 'force', { graceful: { timeoutMs: 1 } }),
  sandbox: fc.constant(null),
  shellSnapshot: fc.constant(null),
  networkProxy: fc.constant(null),
  managedNetwork: fc.constant(null),
  resumeSessionId: fc.uuid(),
};

testProperty(
  'every request gets one answer, with a result as described or an error with a code',
  fc.asyncProperty(randomRequests(METHODS, REPLACEMENTS), async (requests) => {
    const wire = await openSession(server);
    await expectAnswers(wire, requests, METHODS);
    await wire.close();
  }),
  400,
);

testProperty(
  'text of any kind is answered or ends the connection, and nobody else notices',
  fc.asyncProperty(
    fc.array(anyText, { minLength: 1, maxLength: 5 }),
    fc.boolean(),
    async (texts, initialized) => {
      const wire = initialized ? await openSession(server) : openInProcessWire(server);
      for (const text of texts) wire.sendRaw(text);
      await answerOrEnd(wire, wire.request('initialize', { clientName: 'fuzz' }));
      await wire.close();
      const other = await openSession(server);
      expect((await other.request('environment/status')).result).toEqual({ status: 'ready' });
      await other.close();
    },
  ),
  400,
);

test('a thousand broken connections leave no descriptor behind', async () => {
  const count = () => readdirSync('/proc/self/fd').length;
  const before = count();
  for (let round = 0; round < 1_000; round++) {
    const wire = openInProcessWire(server);
    wire.sendRaw('{"id":1,"method":');
    wire.send({ id: 1, result: null });
    await wire.closed;
  }
  expect(count()).toBe(before);
});

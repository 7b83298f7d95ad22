import { readdirSync } from 'node:fs';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { app, v0 } from '@exec-server/protocol';
import { createExecServer } from '@exec-server/server';
import { openWire, type Wire } from '@exec-server/testing';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { anyText } from './json-text.js';
import { testProperty } from './property.js';
import { answerOrEnd, expectAnswers, type Methods, randomRequests } from './random-requests.js';
import type { Replacements } from './schema-values.js';

const directory = await mkdtemp(join(await realpath(tmpdir()), 'exec-server-fuzz-'));
const server = createExecServer({ env: { PATH: '/usr/bin:/bin', HOME: directory } });
const { url } = await server.listen('ws://127.0.0.1:0');
afterAll(async () => {
  await server.close();
  await rm(directory, { recursive: true, force: true });
});

const path = fc
  .array(fc.constantFrom('a', 'b', 'c d', 'é', 'x%2F'), { minLength: 1, maxLength: 3 })
  .map((names) => join(directory, ...names));
const program = fc.constantFrom(
  ['/bin/sh', '-c', 'echo out; echo err >&2; exit 3'],
  ['/bin/sleep', '0.02'],
  ['nothing'],
  [],
);
const soon = fc.nat({ max: 3 });
const cwd = fc.oneof(fc.constant(directory), path);
const env = fc.constant({ PATH: '/usr/bin:/bin' });

/** A dialect beside the one that everything else is tried in. */
interface OtherDialect {
  readonly initialize: object;
  readonly methods: Methods;
  /** Members whose random values would meet nothing, wait for long or touch what is not ours. */
  readonly replacements: Replacements;
}

const id = fc.constantFrom('a', 'b', 'c');
const dialects: Readonly<Record<string, OtherDialect>> = {
  app: {
    initialize: { clientInfo: { name: 'fuzz', version: '1' }, capabilities: { experimentalApi: true } },
    methods: app.METHODS,
    replacements: {
      path,
      sourcePath: path,
      destinationPath: path,
      cwd,
      env,
      command: program,
      processId: id,
      processHandle: id,
      watchId: id,
      timeoutMs: fc.oneof(soon, fc.constantFrom(null, -1)),
      sandboxPolicy: fc.constant(null),
      permissionProfile: fc.constant(null),
    },
  },
  'exec v0': {
    initialize: { clientName: 'fuzz' },
    methods: v0.METHODS,
    replacements: {
      argv: program,
      cwd,
      env,
      arg0: fc.constantFrom(null, 'zero'),
      sessionId: fc.constantFrom('session-1', 'session-2', 'session-3', ''),
    },
  },
};

describe.each(Object.entries(dialects))('%s', (_name, { initialize, methods, replacements }) => {
  async function open(): Promise<Wire> {
    const wire = await openWire(url);
    expect((await wire.request('initialize', initialize)).error).toBeUndefined();
    wire.send({ method: 'initialized' });
    return wire;
  }

  testProperty(
    'every request gets one answer, with a result as described or an error with a code',
    fc.asyncProperty(randomRequests(methods, replacements), async (requests) => {
      using wire = await open();
      await expectAnswers(wire, requests, methods);
    }),
    200,
  );

  testProperty(
    'text of any kind among requests is answered or ends the connection, and nobody else notices',
    fc.asyncProperty(
      fc.array(anyText, { minLength: 1, maxLength: 5 }),
      randomRequests(methods, replacements),
      async (texts, [first]) => {
        using wire = await open();
        // The first request tells the server which of two generations it talks to.
        await answerOrEnd(wire, wire.request(first?.method ?? '', first?.params));
        for (const text of texts) wire.sendRaw(text);
        await answerOrEnd(wire, wire.request('fuzz/unknown', {}));
        (await open()).terminate();
      },
    ),
    150,
  );
});

it('leaves nothing behind when all have gone', async () => {
  const left = () =>
    server
      .metrics()
      .filter(({ name }) => ['exec_server_connections', 'exec_server_processes'].includes(name))
      .flatMap(({ samples }) => samples.map((sample) => ('value' in sample ? sample.value : 0)));
  await expect.poll(() => Math.max(...left())).toBe(0);
  const descriptors = () => readdirSync('/proc/self/fd').length;
  const before = descriptors();
  for (let round = 0; round < 100; round++) {
    using wire = await openWire(url);
    wire.sendRaw('{"id":1,"method":');
    await answerOrEnd(wire, wire.request('command/exec', {}));
  }
  await expect.poll(descriptors).toBe(before);
});

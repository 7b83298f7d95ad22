import {
  encodeOutputFrame,
  METHODS,
  type MethodName,
  SERVER_NOTIFICATIONS,
  SERVER_REQUESTS,
} from '@exec-server/protocol';
import { before } from '@exec-server/testing';
import fc from 'fast-check';
import { expect } from 'vitest';
import { ExecServerError } from '../../packages/client/src/errors.js';
import { ExecServerClient } from '../../packages/client/src/low-level/exec-server-client.js';
import {
  type ScriptedServer,
  scriptAcceptingServer,
} from '../../packages/client/test/support/scripted-server.js';
import { anyText } from './json-text.js';
import { testProperty } from './property.js';
import { nearlyValid, validValue } from './schema-values.js';

/** Ids that the client follows, and one that it does not. */
const processId = fc.constantFrom('followed', 'stranger');
const REPLACEMENTS = { processId, requestId: fc.constantFrom('http-1', '1'), seq: fc.nat({ max: 8 }) };

const pushed = fc.oneof(
  ...Object.entries({ ...SERVER_NOTIFICATIONS, ...SERVER_REQUESTS }).map(([method, { params }]) => {
    const valid = validValue(params, REPLACEMENTS);
    const value = fc.oneof({ weight: 3, arbitrary: valid }, { weight: 1, arbitrary: nearlyValid(valid) });
    const members = { method: fc.constant(method), params: value };
    return method in SERVER_REQUESTS ? fc.record({ ...members, id: fc.nat({ max: 5 }) }) : fc.record(members);
  }),
);

/** What a server may put on the wire: messages, answers to nothing, text, frames and bytes. */
const hostile: fc.Arbitrary<string | Uint8Array> = fc.oneof(
  { weight: 6, arbitrary: pushed.map((message) => JSON.stringify(message)) },
  {
    weight: 1,
    arbitrary: fc
      .record({ id: fc.nat({ max: 9 }), result: fc.jsonValue({ maxDepth: 2 }) })
      .map((message) => JSON.stringify(message)),
  },
  { weight: 1, arbitrary: anyText },
  {
    weight: 2,
    arbitrary: fc
      .record({
        processId,
        seq: fc.nat({ max: 8 }),
        stream: fc.constantFrom('stdout' as const, 'stderr' as const, 'pty' as const),
        data: fc.uint8Array({ maxLength: 20 }),
      })
      .map((frame) => encodeOutputFrame(frame)),
  },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 40 }) },
);

function send({ far }: ScriptedServer, message: string | Uint8Array): void {
  if (typeof message === 'string') far.send(message);
  else far.sendBinary?.(message);
}

/** How a call ended; a call that fails in any other way than its callers are told of is a fault. */
async function settle(call: Promise<unknown>): Promise<void> {
  await before(
    call.catch((error: unknown) => expect(error).toBeInstanceOf(ExecServerError)),
    () => new Error('a call is still waiting after its connection has gone'),
  );
}

testProperty(
  'whatever a server sends, calls and events of a client come to an end that it names',
  fc.asyncProperty(fc.array(hostile, { minLength: 1, maxLength: 12 }), async (messages) => {
    const server = scriptAcceptingServer({ sessionId: 's-1', binaryOutput: true });
    const client = await ExecServerClient.connect(server.transport, { reconnect: false });
    const process = client.registerProcess('followed');
    const seqs: number[] = [];
    process.listen((event) => {
      if ('seq' in event && typeof event.seq === 'number') seqs.push(event.seq);
    });
    const iterated = (async () => {
      for await (const event of process.events()) expect(event).toHaveProperty('type');
    })();
    const calls = [iterated, client.environmentStatus(), process.write(new Uint8Array(3))];
    for (const call of calls) call.catch(() => {});
    for (const message of messages) send(server, message);
    server.far.close();
    await Promise.all(calls.map(settle));
    expect(seqs).toEqual([...new Set(seqs)].sort((a, b) => a - b));
    await client.close();
  }),
  600,
);

const answers = fc.oneof(
  ...(Object.keys(METHODS) as MethodName[])
    .filter((method) => method !== 'initialize')
    .map((method) =>
      fc.record({
        method: fc.constant(method),
        params: validValue(METHODS[method].params),
        result: fc.oneof(nearlyValid(validValue(METHODS[method].result)), fc.jsonValue({ maxDepth: 2 })),
      }),
    ),
);

testProperty(
  'whatever a server answers, a call resolves or rejects with an error that it names',
  fc.asyncProperty(answers, async ({ method, params, result }) => {
    const server = scriptAcceptingServer({ sessionId: 's-1' }, ({ id }, { send: answer }) => {
      if (id !== undefined) answer({ id, result });
    });
    const client = await ExecServerClient.connect(server.transport, { reconnect: false });
    const call = client.call(method, params as never);
    call.catch(() => {});
    await settle(call);
    await client.close();
  }),
  800,
);

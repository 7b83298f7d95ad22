import { createExecServer } from '@exec-server/server';
import { openInProcessWire, openWire, type Wire } from '@exec-server/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createCapabilityTokenPolicy, sha256 } from '../../src/listen/capability-token.js';
import {
  ANONYMOUS_PRINCIPAL,
  CAPABILITY_TOKEN_PRINCIPAL,
  checkPrincipal,
  isSamePrincipal,
  type Principal,
  SIGNED_TOKEN_PRINCIPAL,
} from '../../src/listen/principal.js';
import { createSignedTokenPolicy } from '../../src/listen/signed-token.js';
import type { AuditEvent } from '../../src/telemetry/audit.js';
import { startParams } from '../support/session.js';
import { signToken } from '../support/sign-token.js';

const SECRET = Buffer.alloc(40, 'x');

/** Every way to be somebody, and names that would be somebody else's if names were all there is. */
const PRINCIPALS: readonly Principal[] = [
  ANONYMOUS_PRINCIPAL,
  CAPABILITY_TOKEN_PRINCIPAL,
  SIGNED_TOKEN_PRINCIPAL,
  ...['anonymous', 'capability-token', 'signed-token', 'signed-bearer-token', 'undefined', ''].flatMap(
    (subject): Principal[] => [
      { kind: 'signed-token', subject },
      { kind: 'custom', subject },
    ],
  ),
];

describe('principals', () => {
  it('are the same only in kind and subject', () => {
    for (const [index, one] of PRINCIPALS.entries())
      for (const [at, other] of PRINCIPALS.entries())
        expect(isSamePrincipal(one, { ...other }), `${index} ${at}`).toBe(index === at);
  });

  it('are written in ways that differ, too', () => {
    expect(new Set(PRINCIPALS.map((principal) => JSON.stringify(principal))).size).toBe(PRINCIPALS.length);
  });

  it.each([['anonymous'], [undefined], [null], [{}], [{ kind: 'root' }], [{ kind: 'custom', subject: 5 }]])(
    'are not %j',
    (value) => {
      expect(() => checkPrincipal(value as unknown as Principal)).toThrow(TypeError);
      const server = createExecServer();
      onTestFinished(() => server.close());
      if (value !== undefined && value !== null)
        expect(() => openInProcessWire(server, { principal: value as unknown as Principal })).toThrow(
          TypeError,
        );
    },
  );
});

/** One server, where clients come without a token, with one of two kinds, and with all that a token can say. */
async function connectEverybody() {
  const audited: AuditEvent[] = [];
  const server = createExecServer({ auditLog: { record: (event) => void audited.push(event) } });
  onTestFinished(() => server.close());
  const anyone = await server.listen('ws://127.0.0.1:0');
  const held = await server.listen('ws://127.0.0.1:0', { auth: createCapabilityTokenPolicy(sha256('held')) });
  const signed = await server.listen('ws://127.0.0.1:0', {
    auth: createSignedTokenPolicy({ secret: SECRET }),
  });
  const subjects = [
    undefined,
    'anonymous',
    'capability-token',
    'signed-bearer-token',
    'signed-token',
    'custom',
  ];
  const clients = [
    await openSession(anyone.url),
    await openSession(held.url, 'held'),
    ...(await Promise.all(subjects.map((sub) => openSession(signed.url, signToken(SECRET, { sub }))))),
  ];
  return { audited, clients, signed };
}

interface Client {
  readonly wire: Wire;
  readonly sessionId: string;
}

async function openSession(url: string, token?: string): Promise<Client> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const wire = await openWire(url, { headers });
  onTestFinished(() => wire[Symbol.dispose]());
  const { result } = await wire.request('initialize', { clientName: 'test' });
  wire.send({ method: 'initialized' });
  return { wire, sessionId: result?.sessionId as string };
}

describe('clients whose tokens say what others are', () => {
  it('see and reach nothing of each other', async () => {
    const { audited, clients } = await connectEverybody();
    for (const [index, { wire }] of clients.entries())
      await wire.request('process/start', startParams(`p${index}`, ['/bin/sleep', '60']));
    for (const [index, { wire }] of clients.entries()) {
      const { result } = await wire.request('process/list', { scope: 'all' });
      expect(result?.processes).toMatchObject([{ processId: `p${index}` }]);
      for (const [at, { sessionId }] of clients.entries()) {
        if (at === index) continue;
        const answer = await wire.request('process/attach', { sessionId, processId: `p${at}` });
        expect(answer.error).toMatchObject({ code: -32600 });
      }
    }
    const named = audited
      .filter(({ event }) => event === 'process-started')
      .map(({ principal }) => principal);
    expect(new Set(named.map((principal) => JSON.stringify(principal))).size).toBe(clients.length);
  });

  it.each([1, true, { id: 7 }, [], ''])('do not connect with the sub %j', async (sub) => {
    const server = createExecServer();
    onTestFinished(() => server.close());
    const auth = createSignedTokenPolicy({ secret: SECRET });
    const { url } = await server.listen('ws://127.0.0.1:0', { auth });
    await expect(openSession(url, signToken(SECRET, { sub }))).rejects.toThrow('401');
    await openSession(url, signToken(SECRET, {}));
  });

  it('cannot resume the sessions of each other, but their own', async () => {
    const { clients, signed } = await connectEverybody();
    for (const { wire } of clients) await wire.close();
    const resume = async (sub: string, resumeSessionId: string) => {
      const headers = { authorization: `Bearer ${signToken(SECRET, { sub })}` };
      const wire = await openWire(signed.url, { headers });
      onTestFinished(() => wire[Symbol.dispose]());
      return wire.request('initialize', { clientName: 'test', resumeSessionId });
    };
    const [anonymous, held, unnamed, ownAnonymous] = clients.map(({ sessionId }) => sessionId);
    for (const sessionId of [anonymous, held, unnamed])
      for (const sub of ['anonymous', 'capability-token', 'signed-bearer-token', 'signed-token'])
        expect((await resume(sub, sessionId ?? '')).error).toMatchObject({
          code: -32600,
          message: `unknown session id ${sessionId}`,
        });
    expect((await resume('anonymous', ownAnonymous ?? '')).result).toMatchObject({ sessionId: ownAnonymous });
  });
});

import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type { AuditEvent } from '@exec-server/server';
import { type InProcessWire, requireProgram, type WireMessage } from '@exec-server/testing';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { CLOSED_PROXY } from '../support/network-proxy.js';
import { respond, startOrigin } from '../support/origin.js';
import { READ_ROOT, requireBackend, requireSandbox, sandboxOf, VIEW_BACKENDS } from '../support/sandbox.js';
import { openServer, openSession, shellParams, startParams, untilClosed } from '../support/session.js';

const LOCAL = { domains: { '127.0.0.1': 'allow' } };
const FETCH = 'curl -sS -m 10';

const proxied = (config: object = {}, launch: object = {}) => ({
  networkProxy: { proxy: { ...CLOSED_PROXY, ...config }, ...launch },
});

const decisionsOf = (wire: InProcessWire) =>
  wire.received.filter(({ method }) => method === 'network/policyDecision').map(({ params }) => params);

const isQuestion = ({ method }: WireMessage) => method === 'network/policyRequest';

async function run(wire: InProcessWire, script: string, changes: object): Promise<string> {
  const { error } = await wire.request('process/start', shellParams('p', script, changes));
  if (error !== undefined) throw new Error(error.message);
  return (await untilClosed(wire, 'p')).stdout.toString();
}

beforeEach((test) => requireProgram('curl', test));

describe('a process with a proxy', () => {
  it('gets it in its variables, and the client is told what was decided', async () => {
    const origin = await startOrigin((_, socket) => respond(socket, 'hello'));
    const records: AuditEvent[] = [];
    const server = openServer({ auditLog: { record: (event) => void records.push(event) } });
    const wire = await openSession(server);
    const own = { PATH: process.env.PATH, HTTP_PROXY: 'http://other:1', NO_PROXY: '*' };
    const script = `${FETCH} ${origin.url()}; echo; ${FETCH} http://blocked.example/`;
    const launch = { environmentId: 'e1', executionId: 'x1', auditMetadata: { model: 'm' } };
    const [allowed, blocked = ''] = (await run(wire, script, { env: own, ...proxied(LOCAL, launch) })).split(
      '\n',
    );
    expect(allowed).toBe('hello');
    expect(JSON.parse(blocked)).toMatchObject({
      status: 'blocked',
      host: 'blocked.example',
      reason: 'not_allowed',
    });
    expect(decisionsOf(wire)).toEqual([
      {
        processId: 'p',
        timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
        scope: 'domain',
        decision: 'allow',
        source: 'baseline_policy',
        reason: 'allow',
        protocol: 'http',
        host: '127.0.0.1',
        port: origin.port,
        method: 'GET',
        client: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
        policyOverride: false,
      },
      expect.objectContaining({ processId: 'p', decision: 'deny', host: 'blocked.example' }),
    ]);
    expect(records).toContainEqual(
      expect.objectContaining({
        event: 'network-decided',
        processId: 'p',
        host: 'blocked.example',
        decision: 'deny',
        context: expect.objectContaining({ environmentId: 'e1', executionId: 'x1', model: 'm' }),
      }),
    );
  });

  it('keeps it until everybody who writes for it has ended, and no longer', async () => {
    const origin = await startOrigin((_, socket) => respond(socket, 'hello'));
    const wire = await openSession(openServer());
    const script = `echo $HTTP_PROXY; ( read line; ${FETCH} ${origin.url()} ) <&3 &`;
    const params = shellParams('p', `exec 3<&0; ${script}`, { pipeStdin: true, ...proxied(LOCAL) });
    await wire.request('process/start', params);
    await wire.next(({ method }) => method === 'process/exited', 'the exit');
    await wire.request('process/write', {
      processId: 'p',
      chunk: Buffer.from('go\n').toString('base64'),
      writeId: '1',
    });
    const [url = '', body] = (await untilClosed(wire, 'p')).stdout.toString().split('\n');
    expect(body).toBe('hello');
    await expect(fetch(url)).rejects.toThrow();
  });

  it('cannot be started with what cannot be kept', async () => {
    const wire = await openSession(openServer());
    const refusals: [object, string][] = [
      [
        proxied({ enabled: false }),
        'invalid network proxy config: executor-local network proxy launch requires an enabled proxy',
      ],
      [
        proxied({ credentialMasking: true }),
        'invalid network proxy config: credential masking is not available on this executor',
      ],
      [
        proxied({}, { policyDecisionTimeoutMs: 0 }),
        'network policy decision callback timeout must be nonzero',
      ],
    ];
    for (const [changes, message] of refusals) {
      const { error } = await wire.request('process/start', startParams('p', ['/bin/true'], changes));
      expect(error).toMatchObject({ code: -32602, message });
    }
  });

  it.each([
    ['', false],
    [`${'é'.repeat(127)}x`, true],
    ['é'.repeat(128), true],
    [`${'é'.repeat(128)}x`, false],
  ])('has an id that questions can be asked about: %j', async (processId, accepted) => {
    const wire = await openSession(openServer());
    const changes = proxied({}, { policyDecisionTimeoutMs: 1 });
    const { error } = await wire.request('process/start', startParams(processId, ['/bin/true'], changes));
    const message = 'callback-enabled process ID must be non-empty and at most 256 bytes';
    if (accepted) expect(error).toBeUndefined();
    else expect(error).toMatchObject({ code: -32602, message });
  });
});

describe('a client that decides', () => {
  const ASKING = proxied(
    { domains: { '127.0.0.1': 'allow' }, reviewDomains: ['*'] },
    { policyDecisionTimeoutMs: 60_000 },
  );

  it.each([
    [
      'allows',
      { result: { decision: { type: 'allow' } } },
      'hello',
      { decision: 'allow', policyOverride: true },
    ],
    ['denies', { result: { decision: { type: 'deny', reason: 'no' } } }, '"reason":"no"', { reason: 'no' }],
    [
      'asks back',
      { result: { decision: { type: 'ask', reason: 'hm' } } },
      '"decision":"ask"',
      { decision: 'ask' },
    ],
    ['fails', { error: { code: -32000, message: 'x' } }, '"reason":"not_allowed"', { source: 'decider' }],
    ['talks nonsense', { result: {} }, '"reason":"not_allowed"', { source: 'decider' }],
  ])('%s', async (_name, answer, output, decision) => {
    const origin = await startOrigin((_, socket) => respond(socket, 'hello'));
    const wire = await openSession(openServer());
    const running = run(wire, `${FETCH} ${origin.url()}`, ASKING);
    const question = await wire.next(isQuestion, 'a question');
    expect(question.params).toEqual({
      processId: 'p',
      request: { protocol: 'http', host: '127.0.0.1', port: origin.port },
    });
    wire.send({ id: question.id, ...answer });
    expect(await running).toContain(output);
    expect(decisionsOf(wire)).toMatchObject([decision]);
  });

  it('is whoever is attached: who goes has denied, who comes is asked', async () => {
    const origin = await startOrigin((_, socket) => respond(socket, 'hello'));
    const server = openServer();
    const first = await openSession(server);
    const script = `${FETCH} ${origin.url()}; echo; read line; ${FETCH} ${origin.url()}`;
    await first.request('process/start', shellParams('p', script, { pipeStdin: true, ...ASKING }));
    await first.next(isQuestion, 'a question');
    await first.close();
    const second = await openSession(server, first.sessionId);
    const { result } = await second.request('process/read', { processId: 'p', waitMs: 10_000 });
    const [chunk] = (result?.chunks ?? []) as { chunk: string }[];
    expect(Buffer.from(chunk?.chunk ?? '', 'base64').toString()).toMatch(/"reason":"not_allowed"/);
    await second.request('process/write', {
      processId: 'p',
      chunk: Buffer.from('\n').toString('base64'),
      writeId: '1',
    });
    const question = await second.next(isQuestion, 'a question');
    second.send({ id: question.id, result: { decision: { type: 'allow' } } });
    expect((await untilClosed(second, 'p')).stdout.toString()).toMatch(/hello$/);
  });
});

describe.each(VIEW_BACKENDS)('a process in a sandbox by %s', (sandboxBackend) => {
  beforeEach((test) => requireBackend(test, sandboxBackend));

  const RESTRICTED = { sandbox: sandboxOf([READ_ROOT]) };
  const ENFORCED = { sandbox: sandboxOf([READ_ROOT], { network: 'enabled' }), enforceManagedNetwork: true };

  it.each([
    ['whose network is restricted', RESTRICTED],
    ['whose network is managed', ENFORCED],
  ])('%s reaches the proxy and nothing else', async (_name, confinement) => {
    const origin = await startOrigin((_, socket) => respond(socket, 'hello'));
    const wire = await openSession(openServer({ sandboxBackend }));
    const script = [
      `${FETCH} ${origin.url()}; echo`,
      `${FETCH} --socks5-hostname \${ALL_PROXY#*//} ${origin.url()}; echo`,
      `${FETCH} http://blocked.example/ | grep -o not_allowed`,
      `${FETCH} --noproxy '*' ${origin.url()} >/dev/null || echo unreachable`,
      `${FETCH} --noproxy '*' -m 3 http://169.254.169.254/ >/dev/null || echo unreachable`,
      'tail -n +3 /proc/net/dev | grep -vc lo:',
    ].join('\n');
    const output = await run(wire, script, { ...confinement, ...proxied(LOCAL) });
    expect(output.trim().split('\n')).toEqual([
      'hello',
      'hello',
      'not_allowed',
      'unreachable',
      'unreachable',
      '0',
    ]);
    expect(decisionsOf(wire)).toMatchObject([
      { decision: 'allow' },
      { decision: 'allow' },
      { decision: 'deny' },
    ]);
  });

  it('has a proxy that nobody else can use', async () => {
    const wire = await openSession(openServer({ sandboxBackend }));
    const script = 'echo $HTTP_PROXY; read line';
    const params = shellParams('p', script, { pipeStdin: true, ...RESTRICTED, ...proxied(LOCAL) });
    await wire.request('process/start', params);
    const { params: output } = await wire.next(({ method }) => method === 'process/output', 'the address');
    const url = Buffer.from(output?.chunk as string, 'base64')
      .toString()
      .trim();
    await expect(fetch(url)).rejects.toThrow();
  });

  it('does not reach the server by its proxy, whatever that allows', async () => {
    const server = openServer();
    const { url } = await server.listen('ws://127.0.0.1:0');
    const wire = await openSession(server);
    const script = `${FETCH} ${url.replace('ws:', 'http:')}/readyz`;
    const config = { domains: { '*': 'allow' }, allowLocalBinding: true };
    const output = await run(wire, `NO_PROXY= no_proxy= ${script}`, { ...RESTRICTED, ...proxied(config) });
    expect(output).toMatch('not_allowed_local');
    expect(decisionsOf(wire)).toMatchObject([{ decision: 'deny', reason: 'not_allowed_local' }]);
  });

  it('may talk to itself, and keeps its exit code', async () => {
    const wire = await openSession(openServer({ sandboxBackend }));
    // Without HTTP: newer versions of Node would ask the proxy for it.
    const script = `${process.execPath} -e "
      const { connect, createServer } = require('node:net');
      const server = createServer((socket) => socket.end('self\\n')).listen(0, '127.0.0.1', () => {
        connect(server.address().port, '127.0.0.1', () => {
          process.exitCode = 7;
          server.close();
        }).pipe(process.stdout);
      })"`;
    const env = { PATH: process.env.PATH };
    await wire.request('process/start', shellParams('p', script, { env, ...RESTRICTED, ...proxied(LOCAL) }));
    expect(await untilClosed(wire, 'p')).toMatchObject({ exitCode: 7, stdout: Buffer.from('self\n') });
  });

  it('sends datagrams only through the proxy', async () => {
    const wire = await openSession(openServer({ sandboxBackend }));
    const script = `awk '/0100007F:/ { print $2 }' /proc/net/udp`;
    const config = { enableSocks5Udp: true };
    expect(await run(wire, script, { ...RESTRICTED, ...proxied(config) })).toBe('0100007F:0438\n');
  });

  it('with restricted network and no proxy makes no sockets at all', async () => {
    const wire = await openSession(openServer({ sandboxBackend }));
    const script = `${process.execPath} -e "require('node:net').createServer().on('error', (e) => console.log(e.code)).listen(0, '127.0.0.1')"`;
    expect(await run(wire, script, { env: { PATH: process.env.PATH }, ...RESTRICTED })).toBe('EPERM\n');
  });
});

describe('a proxy that is there already', () => {
  beforeEach(requireSandbox);

  const MANAGED = { sandbox: sandboxOf([READ_ROOT]), enforceManagedNetwork: true };

  async function openEcho(): Promise<number> {
    const server = createServer((socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nproxy'));
    onTestFinished(() => void server.close());
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  }

  it.each(['variables', 'ports'] as const)('is reached from the sandbox, known by its %s', async (way) => {
    const port = await openEcho();
    const other = await startOrigin((_, socket) => respond(socket, 'outside'));
    const wire = await openSession(openServer());
    const url = `http://127.0.0.1:${port}`;
    const env = { PATH: process.env.PATH, ...(way === 'variables' && { http_proxy: url }) };
    const managedNetwork = way === 'ports' ? { loopbackPorts: [port] } : null;
    const script = `${FETCH} -x ${url} http://any.example/; echo; ${FETCH} --noproxy '*' ${other.url()} >/dev/null || echo no`;
    expect(await run(wire, script, { ...MANAGED, env, managedNetwork })).toBe('proxy\nno\n');
  });

  it.each([
    [15, true],
    [16, true],
    [17, false],
  ])('may have %i ports: %s', async (count, allowed) => {
    const wire = await openSession(openServer());
    const loopbackPorts = Array.from({ length: count }, (_, index) => 40_000 + index);
    const changes = { ...MANAGED, managedNetwork: { loopbackPorts } };
    const { error } = await wire.request('process/start', startParams('p', ['/bin/true'], changes));
    const message = 'sandbox intent cannot be enforced on this executor: more than 16 proxies';
    if (allowed) expect(error).toBeUndefined();
    else expect(error).toMatchObject({ code: -32602, message });
  });

  it.each(['variables', 'ports'] as const)('is not the server itself, known by its %s', async (way) => {
    const server = openServer();
    const port = Number(new URL((await server.listen('ws://127.0.0.1:0')).url).port);
    const wire = await openSession(server);
    const env = {
      PATH: process.env.PATH,
      ...(way === 'variables' && { http_proxy: `http://[::1]:${port}` }),
    };
    const managedNetwork = way === 'ports' ? { loopbackPorts: [port] } : null;
    const changes = { ...MANAGED, env, managedNetwork };
    const { error } = await wire.request('process/start', startParams('p', ['/bin/true'], changes));
    const message = `sandbox intent cannot be enforced on this executor: port ${port} is no proxy, but this server's own`;
    expect(error).toMatchObject({ code: -32602, message });
  });

  it('is not the server that begins to listen there later', async () => {
    const server = openServer();
    const first = await server.listen('ws://127.0.0.1:0');
    const port = Number(new URL(first.url).port);
    await first.close();
    const wire = await openSession(server);
    const env = { PATH: process.env.PATH };
    const script = `read line; ${FETCH} -x http://127.0.0.1:${port} http://any.example/ || echo unreachable`;
    const changes = { ...MANAGED, env, managedNetwork: { loopbackPorts: [port] }, pipeStdin: true };
    const { error } = await wire.request('process/start', shellParams('p', script, changes));
    expect(error).toBeUndefined();
    await server.listen(`ws://127.0.0.1:${port}`);
    const chunk = Buffer.from('go\n').toString('base64');
    await wire.request('process/write', { processId: 'p', chunk, writeId: '1' });
    expect((await untilClosed(wire, 'p')).stdout.toString()).toBe('unreachable\n');
  });

  it('has to be known', async () => {
    const wire = await openSession(openServer());
    const { error } = await wire.request('process/start', startParams('p', ['/bin/true'], MANAGED));
    const message =
      'sandbox intent cannot be enforced on this executor: managed proxy mode requires proxy environment variables';
    expect(error).toMatchObject({ code: -32602, message });
  });

  it('is no matter without a sandbox', async () => {
    const wire = await openSession(openServer());
    const { result } = await wire.request(
      'process/start',
      startParams('p', ['/bin/true'], { enforceManagedNetwork: true }),
    );
    expect(result).toMatchObject({ sandboxType: 'none' });
  });
});

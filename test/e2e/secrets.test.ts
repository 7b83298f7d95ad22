import { createHmac, randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { app, METHODS, v0 } from '@exec-server/protocol';
import { openWire, type RunningServer, startServer, UpgradeRefused, type Wire } from '@exec-server/testing';
import { expect, onTestFinished, test } from 'vitest';
import { notificationOf, startParams } from './session.js';

/** One secret of each kind, none of which may be found in anything that a server says about itself. */
class Canaries {
  readonly #planted = new Map<string, string>();

  /** A secret of that kind. */
  plant(kind: string): string {
    const secret = `canary-${kind}-${randomBytes(12).toString('hex')}`;
    this.#planted.set(kind, secret);
    return secret;
  }

  /** The same as the wire carries bytes. */
  plantBase64(kind: string): string {
    return Buffer.from(this.plant(kind)).toString('base64');
  }

  /** Kinds that are in the text, as they are or in base64. */
  findIn(text: string): string[] {
    return [...this.#planted]
      .filter(([, secret]) => text.includes(secret) || text.includes(Buffer.from(secret).toString('base64')))
      .map(([kind]) => kind);
  }
}

function makeDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'secrets-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Serves with everything on that could talk. */
async function serveLoudly(directory: string, args: readonly string[], env: NodeJS.ProcessEnv) {
  const auditLog = join(directory, 'audit.jsonl');
  const server = await startServer({
    args: ['--log-level', 'debug', '--log-format', 'json', '--audit-log', auditLog, ...args],
    env: { ...process.env, ...env },
  });
  onTestFinished(async () => void (await server.stop()));
  return { server, readAudit: () => readFileSync(auditLog, 'utf8') };
}

async function handshake(server: RunningServer, token: string, params: object): Promise<Wire> {
  const wire = await openWire(server.url, { headers: { Authorization: `Bearer ${token}` } });
  onTestFinished(() => wire.terminate());
  await wire.request('initialize', params);
  wire.send({ method: 'initialized' });
  return wire;
}

async function readMetrics({ port }: RunningServer, token: string): Promise<string> {
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(`http://127.0.0.1:${port}/metrics`, { headers });
  expect(response.status).toBe(200);
  return response.text();
}

/** An origin whose answers are secrets too. */
async function startOrigin(canaries: Canaries): Promise<string> {
  const header = canaries.plant('response-header');
  const body = canaries.plant('response-body');
  const origin: Server = createServer((_, response) => {
    response.setHeader('x-secret', header);
    response.end(body);
  });
  await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void origin.close());
  return `http://127.0.0.1:${(origin.address() as AddressInfo).port}`;
}

async function useProcesses(wire: Wire, canaries: Canaries, home: string): Promise<void> {
  const script = 'echo "$SECRET_A $SECRET_B"; cat; cat "$HOME/content" >&2';
  writeFileSync(join(home, 'content'), canaries.plant('output'));
  writeFileSync(join(home, '.bash_profile'), `echo ${canaries.plant('login')}\nexit 3\n`);
  const env = { PATH: '/usr/bin:/bin', HOME: home, SECRET_A: canaries.plant('env') };
  const set = { SECRET_B: canaries.plant('policy-env') };
  const envPolicy = { inherit: 'all', ignoreDefaultExcludes: true, exclude: [], set, includeOnly: [] };
  const shellSnapshot = { scopeId: 'scope', shell: { name: 'bash', path: '/bin/bash' } };
  const ways = {
    pipes: { pipeStdin: true },
    terminal: { tty: true },
    snapshot: { pipeStdin: true, shellSnapshot, argv: ['/bin/bash', '-lc', script] },
  };
  for (const [id, changes] of Object.entries(ways)) {
    await wire.request(
      'process/start',
      startParams(id, ['/bin/sh', '-c', script], { env, envPolicy, ...changes }),
    );
    await wire.request('process/write', { processId: id, chunk: canaries.plantBase64(`${id}-stdin`) });
    await wire.next(notificationOf(id, 'process/output'), `output of ${id}`);
    await wire.request('process/read', { processId: id });
    await wire.request('process/terminate', { processId: id });
    await wire.next(notificationOf(id, 'process/closed'), `the end of ${id}`);
  }
  await wire.request('process/start', startParams('none', ['/does/not/exist'], { env }));
}

async function useFiles(wire: Wire, canaries: Canaries, home: string): Promise<void> {
  const path = `file://${home}/file`;
  const dataBase64 = canaries.plantBase64('file');
  await wire.request('fs/writeFile', { path, dataBase64 });
  await wire.request('fs/readFile', { path });
  await wire.request('fs/readFile', { path: `${path}/below` });
  await wire.request('fs/writeFile', { path: `${path}/below`, dataBase64 });
}

async function useHttp(wire: Wire, canaries: Canaries): Promise<void> {
  const url = await startOrigin(canaries);
  const headers = [{ name: 'authorization', value: canaries.plant('request-header') }];
  const bodyBase64 = canaries.plantBase64('request-body');
  const query = `?token=${canaries.plant('query')}`;
  const request = { method: 'POST', requestId: 'r', headers, bodyBase64 };
  const { result } = await wire.request('http/request', { ...request, url: `${url}/${query}` });
  expect(result).toMatchObject({ status: 200 });
  await wire.request('http/request', { ...request, url: `http://127.0.0.1:1/${query}` });
  await wire.request('http/request', { ...request, url: `http://user:${canaries.plant('password')}@[::1` });
}

/** Each method with a secret in every place where it can be wrong. */
async function misuse(wire: Wire, methods: object, canaries: Canaries): Promise<void> {
  for (const method of Object.keys(methods)) {
    const secret = canaries.plant(`misuse-${method}`);
    await wire.request(method, secret);
    const params = { env: { [secret]: secret }, chunk: secret, dataBase64: secret, headers: secret };
    await wire.request(method, params);
  }
  wire.send({ id: 'span', method: 'environment/status', trace: { traceparent: canaries.plant('span') } });
  await wire.next(({ id }) => id === 'span', 'the answer to an unreadable traceparent');
}

/** Messages that cannot be read, which is answered, or costs the connection, which is worth a line. */
async function sendGarbage(wire: Wire, canaries: Canaries): Promise<void> {
  wire.sendRaw(`{"id":1,"method":"fs/writeFile","params":{"dataBase64":"${canaries.plant('broken')}`);
  wire.send({ id: 'trace', method: 'environment/status', trace: canaries.plant('trace') });
  wire.send({ id: 'last', result: canaries.plant('result') });
  await wire.closed;
}

test('what is confidential reaches neither logs nor the audit log nor metrics', {
  timeout: 60_000,
}, async () => {
  const canaries = new Canaries();
  const home = makeDirectory();
  const token = canaries.plant('token');
  const tokenFile = join(home, 'token');
  writeFileSync(tokenFile, token);
  const args = ['--ws-auth', 'capability-token', '--ws-token-file', tokenFile];
  const { server, readAudit } = await serveLoudly(home, args, {
    SERVER_SECRET: canaries.plant('server-env'),
  });
  await expect(handshake(server, canaries.plant('wrong-token'), {})).rejects.toThrow(UpgradeRefused);

  const wire = await handshake(server, token, { clientName: 'secrets' });
  await useProcesses(wire, canaries, home);
  await useFiles(wire, canaries, home);
  await useHttp(wire, canaries);
  await misuse(wire, METHODS, canaries);
  await sendGarbage(wire, canaries);

  const oldWire = await handshake(server, token, { clientName: 'secrets' });
  await misuse(oldWire, v0.METHODS, canaries);
  oldWire.send({ id: 'trace', method: 'environment/status', trace: canaries.plant('old-trace') });
  await oldWire.closed;

  const appWire = await handshake(server, token, {
    clientInfo: { name: 'secrets', version: '1' },
    capabilities: { experimentalApi: true },
  });
  const command = ['/bin/sh', '-c', 'echo "$SECRET"'];
  const run = await appWire.request('command/exec', { command, env: { SECRET: canaries.plant('app-env') } });
  expect(run.result).toMatchObject({ exitCode: 0 });
  await misuse(appWire, app.METHODS, canaries);

  const metrics = await readMetrics(server, token);
  await server.stop();
  const said = [server.stderr(), readAudit(), metrics];
  // It did talk.
  for (const msg of ['refused a connection', 'process started', 'process not started', 'connection ended'])
    expect(said[0]).toContain(`"msg":"${msg}"`);
  expect(said[1]).toContain('"event":"process-started"');
  expect(said[2]).toContain('method="http/request"');
  expect(said.flatMap((text) => canaries.findIn(text))).toEqual([]);
});

test('the secret of signed tokens and the tokens themselves are never told', async () => {
  const canaries = new Canaries();
  const directory = makeDirectory();
  const secret = canaries.plant('secret-of-at-least-32-bytes');
  const secretFile = join(directory, 'secret');
  writeFileSync(secretFile, secret);
  const args = ['--ws-auth', 'signed-bearer-token', '--ws-shared-secret-file', secretFile];
  const { server, readAudit } = await serveLoudly(directory, args, {});
  const sign = (claims: object, key = secret) => {
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const head = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(claims)}`;
    return `${head}.${createHmac('sha256', key).update(head).digest('base64url')}`;
  };
  const claims = { sub: 'somebody', exp: Math.floor(Date.now() / 1000) + 600, note: canaries.plant('claim') };
  const tokens = [sign(claims), sign({ ...claims, exp: 1 }), sign(claims, 'another key')] as const;
  const wire = await handshake(server, tokens[0], { clientName: 'secrets' });
  for (const refused of tokens.slice(1))
    await expect(handshake(server, refused, {})).rejects.toThrow(UpgradeRefused);
  await wire.close();
  const metrics = await readMetrics(server, tokens[0]);
  await server.stop();
  const said = [server.stderr(), readAudit(), metrics].join('\n');
  expect(said).toContain('"principal":{"kind":"signed-token","subject":"somebody"}');
  expect(canaries.findIn(said)).toEqual([]);
  expect(tokens.flatMap((token) => token.split('.').slice(1)).filter((part) => said.includes(part))).toEqual(
    [],
  );
});

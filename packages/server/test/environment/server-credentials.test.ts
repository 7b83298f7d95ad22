import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { holdsServerCredential, isOwnVariable } from '../../src/environment/server-credentials.js';
import { respond, startOrigin } from '../support/origin.js';
import { openServer, openSession, untilClosed } from '../support/session.js';

describe('variables', () => {
  it.each([
    ['EXEC_SERVER_TOKEN', true, true],
    ['exec_server_token', true, true],
    ['EXEC_SERVER_', true, true],
    ['EXEC_SERVER', false, false],
    ['EXEC_SERVERS_TOKEN', false, false],
    ['MY_EXEC_SERVER_TOKEN', false, false],
    ['http_proxy', false, true],
    ['HTTPS_PROXY', false, true],
    ['All_Proxy', false, true],
    ['NO_PROXY', false, false],
    ['OTEL_EXPORTER_OTLP_LOGS_HEADERS', false, true],
    ['OTEL_SERVICE_NAME', false, false],
    ['', false, false],
  ])('%j: own %s, credential %s', (name, own, credential) => {
    expect([isOwnVariable(name), holdsServerCredential(name)]).toEqual([own, credential]);
  });
});

/** What the program reads and may be told to anybody: places and settings, no credentials. */
const HARMLESS = [
  ['CODEX_HOME', 'HOME', 'PATH', 'SHELL', 'TMPDIR', 'TMUX_TMPDIR', 'TERM', 'NO_COLOR'],
  ['NO_PROXY', 'REQUEST_METHOD', 'SSL_CERT_FILE', 'NODE_EXTRA_CA_CERTS'],
].flat();

it('every variable that the program reads is known to hold a credential, or not to', () => {
  const read = sources().flatMap((text) => [
    ...Array.from(text.matchAll(/env(?:ironment)?\??\.([A-Z][A-Z\d_]*)/gi), ([, name = '']) => name),
    ...Array.from(text.matchAll(/\{([\w, ]+)\} = (?:\w+\.)*(?:serverEnv|env)\b/g), ([, names = '']) =>
      names.split(',').map((name) => name.trim()),
    ).flat(),
    ...Array.from(text.matchAll(/\b(?:readProxy|readVariable)\(env, '(\w+)'/g), ([, name = '']) => name),
  ]);
  const variables = [...new Set(read.filter((name) => /^[A-Z][A-Z\d_]*$/.test(name)))];
  expect(variables).toEqual(expect.arrayContaining(['EXEC_SERVER_TOKEN', 'HTTPS_PROXY', 'CODEX_HOME']));
  const unknown = variables.filter((name) => !holdsServerCredential(name) && !HARMLESS.includes(name));
  expect(unknown, 'add them to HARMLESS here, or to server-credentials.ts').toEqual([]);
});

/** The sources of the server and of its command. */
function sources(): string[] {
  const roots = [join(import.meta.dirname, '../../src'), join(import.meta.dirname, '../../../cli/src')];
  return roots.flatMap((root) =>
    readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => readFileSync(join(root, file), 'utf8')),
  );
}

describe('http/request', () => {
  const CANARY = 'canary-7d1f';
  const env = {
    EXEC_SERVER_TOKEN: CANARY,
    exec_server_token: CANARY,
    OTEL_EXPORTER_OTLP_HEADERS: `authorization=${CANARY}`,
    // Nobody listens there.
    HTTPS_PROXY: `http://user:${CANARY}@127.0.0.1:1`,
  };

  it.each(Object.keys(env))('sends nothing of %s', async (valueEnvVar) => {
    const origin = await startOrigin((_, socket) => respond(socket));
    const wire = await openSession(openServer({ env }));
    const headers = [{ name: 'x-leak', value: '', valueEnvVar }];
    const answer = await wire.request('http/request', {
      method: 'GET',
      url: origin.url(),
      requestId: 'r',
      headers,
    });
    expect(answer.error).toMatchObject({
      code: -32602,
      message: expect.stringContaining(`cannot use executor environment variable ${valueEnvVar}`),
    });
    expect(JSON.stringify(answer)).not.toContain(CANARY);
    expect(origin.requests).toEqual([]);
  });

  it('says nothing of the credentials of a proxy that fails', async () => {
    const wire = await openSession(openServer({ env }));
    const answer = await wire.request('http/request', {
      method: 'GET',
      url: 'https://a.test/',
      requestId: 'r',
    });
    expect(answer.error).toBeDefined();
    expect(JSON.stringify(answer)).not.toContain(CANARY);
  });

  it('says nothing of them when the proxy refuses, or repeats them', async () => {
    const proxy = await startOrigin((request, socket) =>
      respond(socket, request, '', '407 Proxy Authentication Required'),
    );
    const wire = await openSession(
      openServer({ env: { HTTPS_PROXY: `http://user:${CANARY}@127.0.0.1:${proxy.port}` } }),
    );
    const answer = await wire.request('http/request', {
      method: 'GET',
      url: 'https://a.test/',
      requestId: 'r',
    });
    expect(proxy.requests[0]).toContain('Proxy-Authorization');
    expect(answer.error).toBeDefined();
    const sent = Buffer.from(`user:${CANARY}`).toString('base64');
    expect([CANARY, sent].filter((secret) => JSON.stringify(answer).includes(secret))).toEqual([]);
  });
});

it('children inherit no variable of the server itself, however it is spelled', async () => {
  const env = {
    PATH: '/usr/bin:/bin',
    EXEC_SERVER_TOKEN: 'a',
    exec_server_token: 'b',
    Exec_Server_Url: 'c',
    K: 'd',
  };
  const wire = await openSession(openServer({ env }));
  await wire.request('process/start', {
    processId: 'p',
    argv: ['env'],
    cwd: 'file:///tmp',
    env: {},
    tty: false,
    envPolicy: { inherit: 'all', ignoreDefaultExcludes: true, exclude: [], set: {}, includeOnly: [] },
  });
  const { stdout } = await untilClosed(wire, 'p');
  expect(stdout.toString().trim().split('\n').sort()).toEqual(['K=d', 'PATH=/usr/bin:/bin']);
});

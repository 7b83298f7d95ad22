import { ErrorCode, RpcError } from '@exec-server/protocol';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { ConnectionLostError } from '../../src/errors.js';
import { ExecServerClient } from '../../src/low-level/exec-server-client.js';
import { ENDED_PROCESS_KNOWN_MS, type StartHost, startProcess } from '../../src/low-level/start-process.js';
import { toExecServerError } from '../../src/low-level/to-exec-server-error.js';
import { scriptDialer } from '../support/scripted-dialer.js';
import { type ScriptedServer, type SeenMessage, scriptAcceptingServer } from '../support/scripted-server.js';

const RECONNECT = { minDelayMs: 1, maxDelayMs: 1, deadlineMs: 2_000 };
const SESSION = { sessionId: 's-1', environmentInfo: { shell: { name: 'sh', path: 'sh' } } };
const START = { processId: 'p', argv: ['true'], cwd: 'file:///tmp', env: {}, tty: false };
const READ = { chunks: [], nextSeq: 1, exited: false, exitCode: null, closed: false, failure: null };
const rejected = (message: string) => ({ error: { code: ErrorCode.invalidRequest, message } });
const UNKNOWN = rejected('unknown process id p');
const STARTING = rejected('process id p is starting');
const TAKEN = rejected('process p already exists');
const started = { result: { processId: 'p' } };
const running = { result: READ };

/** Loses the first connection with the start, and answers on the next one what the script says, in its order. */
async function startOverLoss(
  script: readonly [method: string, answer: object][],
  onStart: (server: ScriptedServer) => void = () => {},
) {
  const asked: string[] = [];
  const left = [...script];
  const answer = (message: SeenMessage, server: ScriptedServer) => {
    if (message.method === undefined || message.id === undefined) return;
    const [method, response] = left.shift() ?? [];
    asked.push(message.method);
    if (method === message.method) server.send({ id: message.id, ...response });
    else server.far.destroy(`expected ${method}, got ${message.method}`);
  };
  const dialer = scriptDialer((index) =>
    scriptAcceptingServer(SESSION, (message, server) => {
      if (index > 0) answer(message, server);
      else if (message.method === 'process/start') {
        onStart(server);
        server.far.close();
      }
    }),
  );
  const client = await ExecServerClient.connect(dialer, { reconnect: RECONNECT });
  onTestFinished(() => client.close());
  client.registerProcess('p');
  const outcome = await client.exec(START).catch((error: unknown) => error);
  return { outcome, asked, left };
}

describe('a start whose connection is lost', () => {
  it('and that is still under way is waited for', async () => {
    const { outcome, asked } = await startOverLoss([
      ['process/read', UNKNOWN],
      ['process/read', STARTING],
      ['process/read', STARTING],
      ['process/read', running],
    ]);
    expect(outcome).toEqual({ processId: 'p' });
    expect(asked).not.toContain('process/start');
  });

  it('and that fails while it is waited for is made again', async () => {
    const { outcome } = await startOverLoss([
      ['process/read', UNKNOWN],
      ['process/read', STARTING],
      ['process/read', UNKNOWN],
      ['process/start', started],
    ]);
    expect(outcome).toEqual({ processId: 'p' });
  });

  it('and that arrives behind the question about it is found when the next one meets it', async () => {
    const { outcome, asked } = await startOverLoss([
      ['process/read', UNKNOWN],
      ['process/read', UNKNOWN],
      ['process/start', TAKEN],
      ['process/read', running],
    ]);
    expect(outcome).toEqual({ processId: 'p' });
    expect(asked.at(-1)).toBe('process/read');
  });

  it('with an id that is taken and unknown again and again is refused', async () => {
    const { outcome } = await startOverLoss([
      ['process/read', UNKNOWN],
      ['process/read', UNKNOWN],
      ['process/start', TAKEN],
      ['process/read', UNKNOWN],
      ['process/start', TAKEN],
    ]);
    expect(outcome).toMatchObject({ code: 'rejected', message: 'process p already exists' });
  });

  it('and whose process was seen, and is forgotten, is not made again', async () => {
    const { outcome, asked } = await startOverLoss(
      [
        ['process/read', UNKNOWN],
        ['process/read', UNKNOWN],
      ],
      (server) =>
        server.send({
          method: 'process/output',
          params: { processId: 'p', seq: 1, stream: 'stdout', chunk: 'eA==' },
        }),
    );
    expect(outcome).toMatchObject({ code: 'process_expired' });
    expect(asked).not.toContain('process/start');
  });
});

it('an id that is taken from the first is refused', async () => {
  const dialer = scriptDialer(() =>
    scriptAcceptingServer({ sessionId: 's-1' }, (message, server) => {
      if (message.method === 'process/start') server.send({ id: message.id, ...TAKEN });
    }),
  );
  const client = await ExecServerClient.connect(dialer);
  onTestFinished(() => client.close());
  await expect(client.exec(START)).rejects.toMatchObject({ code: 'rejected' });
});

describe('an id that is unknown', () => {
  afterEach(() => vi.restoreAllMocks());

  it.each([
    [ENDED_PROCESS_KNOWN_MS - 1, 2],
    [ENDED_PROCESS_KNOWN_MS, 1],
    [ENDED_PROCESS_KNOWN_MS + 1, 1],
  ])(
    '%i ms after the start leads to %i starts: one that ended may be forgotten by then',
    async (ms, starts) => {
      let now = 0;
      vi.spyOn(performance, 'now').mockImplementation(() => now);
      let sent = 0;
      const host = {
        supports: async () => false,
        async send(method: string) {
          if (method === 'process/start' && ++sent === 1) throw new ConnectionLostError('lost');
          if (method === 'process/start') return { processId: 'p' };
          now += ms;
          throw toExecServerError(new RpcError(ErrorCode.invalidRequest, 'unknown process id p'));
        },
      } as StartHost;
      const outcome = await startProcess(host, 'process/start', START, {}).catch((error: unknown) => error);
      expect(sent).toBe(starts);
      if (starts === 2) expect(outcome).toEqual({ processId: 'p' });
      else
        expect(outcome).toMatchObject({
          code: 'connection_lost',
          retryable: false,
          message: 'lost; whether process p was started is unknown',
        });
    },
  );
});

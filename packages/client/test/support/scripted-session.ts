import { ExecServerError } from '../../src/errors.js';
import type { ExecServerClientOptions } from '../../src/low-level/client-options.js';
import { ExecServerClient } from '../../src/low-level/exec-server-client.js';
import { type Answer, output } from './followed-process.js';
import { scriptDialer } from './scripted-dialer.js';
import { type ScriptedServer, scriptAcceptingServer, scriptServer } from './scripted-server.js';

export const SESSION = { sessionId: 's' };
export const RECONNECT = { minDelayMs: 1, maxDelayMs: 2 };
export const refused = () => new ExecServerError('connect_failed', 'refused', { retryable: true });
export const rejecting = (code: number, message: string) =>
  scriptServer(({ id }, { send }) => send({ id, error: { code, message } }));

export const readResult = (seqs: readonly number[], nextSeq: number, more: object = {}) => ({
  chunks: seqs.map((seq) => ({ ...output(seq).params, processId: undefined })),
  nextSeq,
  exited: false,
  exitCode: null,
  closed: false,
  failure: null,
  ...more,
});

/** A process as `process/list` and `process/attach` tell of it. */
export const listed = (processId: string, sessionId: string) => ({
  processId,
  sessionId,
  pid: 77,
  argv: ['x'],
  cwd: 'file:///',
  tty: false,
  tags: {},
  startedAtMs: 1,
  nextSeq: 1,
  running: true,
  exitCode: null,
  signal: null,
  timedOut: false,
  closed: false,
});

/** Answers `process/read`, one result after the other and the last for ever. */
export const readsOf = (...results: object[]): Answer => {
  const left = [...results];
  return ({ id, method }, { send }) => {
    if (method === 'process/read') send({ id, result: left.length > 1 ? left.shift() : left[0] });
  };
};

/** A client whose n-th connection is the n-th of the scripts; `cut` ends the n-th and waits until that is noticed. */
export async function connect(
  scripts: readonly (Answer | ScriptedServer | Error | undefined)[],
  options: ExecServerClientOptions = {},
) {
  const dialer = scriptDialer((index) => {
    const script = scripts[Math.min(index, scripts.length - 1)];
    if (script instanceof Error || (script !== undefined && typeof script !== 'function')) return script;
    return scriptAcceptingServer(SESSION, script);
  });
  const client = await ExecServerClient.connect(dialer, {
    binaryOutput: false,
    reconnect: RECONNECT,
    ...options,
  });
  const cut = async (index: number) => {
    const server = await dialer.server(index);
    const noticed = new Promise<void>((resolve) => client.onLoss(() => resolve()));
    server.far.destroy('cut');
    await noticed;
  };
  return { dialer, client, cut };
}

export const failureOf = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

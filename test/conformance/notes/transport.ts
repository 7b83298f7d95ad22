import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import {
  isResponseTo,
  openWire,
  SpawnedCommand,
  UpgradeRefused,
  type WireMessage,
  type WireOptions,
} from '@exec-server/testing';
import { dropHelperWarning, dropNoise } from '../side-events.js';
import type { NoteActs, NoteContext } from './note.js';

/** First id of the recorded burst of requests. */
const BURST_ID = 100_000;
/** First id of the recorded long frames, whose size in MiB is added to it. */
const FRAME_ID = 8000;
const BYTES_PER_MIB = 1024 * 1024;

/** What the recording's client saw of the server's doors. */
export const TRANSPORT_ACTS: NoteActs = [
  [
    /^HTTP (\w+) (\S+) (\{.*\})? ?-> /,
    async ({ server }, [, method = '', path = '', headers = '']) => {
      const { status, body, allow } = await ask(server().port, method, path, headers);
      return `HTTP ${method} ${path} ${headers} -> ${status} ${JSON.stringify(body)} ${allow}`;
    },
  ],
  [
    /^ws connect (plain|with Origin|subprotocol|path (\S+)): /,
    async ({ server }, [, what = '', path = '']) => {
      const options: Record<string, WireOptions> = {
        'with Origin': { origin: 'http://x' },
        subprotocol: { protocols: ['something'] },
      };
      const outcome = await tryToConnect(server().url + path, options[what]);
      return `ws connect ${what}: ${outcome === 'open' ? 'open protocol= ext=' : outcome.replace(/ ".*/, '')}`;
    },
  ],
  [/^banner: /, async ({ server }) => `banner: ${dropNoise(server().stderr()).replaceAll('\n', ' | ')}`],
  [
    /^(--.*): exit=/,
    async ({ command, bindings }, [, recorded = '']) => {
      const args = bindings.fillText(recorded);
      // The recording's client named this listener with everything that is not about listeners.
      const listen = args.startsWith('--listen') ? [] : ['--listen', 'ws://127.0.0.1:0'];
      const run = new SpawnedCommand({ ...command, args: [...listen, ...args.split(' ')] });
      run.stdin.end();
      const exit = await run.exited;
      const stderr = dropHelperWarning(run.stderr())
        .replace(/\n\nStack backtrace:.*/s, '')
        .trimEnd();
      return `${args}: exit=${JSON.stringify(exit)} stderr=${JSON.stringify(stderr)}`;
    },
  ],
  [
    /^capability-token (\{.*\}) -> /,
    async (context, [, headers = '']) => {
      const server = await startWithToken(context);
      const outcome = await tryToConnect(server.url, { headers: parseHeaders(headers) });
      return `capability-token ${headers} -> ${outcome}`;
    },
  ],
  [
    /^readyz without a token -> /,
    async (context) => {
      const server = await startWithToken(context);
      const { status } = await ask(server.port, 'GET', '/readyz', '');
      return `readyz without a token -> ${status}`;
    },
  ],
  [/^sent (\d+) requests in one burst: \d+ answered, \d+ errors, sample (\{.*\}), closed=null$/, burst],
  [
    /^one text frame of about (\d+) MiB -> (?:(no answer)|.*); closed=/,
    async (context, [, size = '']) => {
      const outcome = await sendLongFrame(context, Number(size));
      return `one text frame of about ${size} MiB -> ${outcome}`;
    },
  ],
];

/** Sends that many requests without waiting: all are answered, and those that fail do so with the recorded error. */
async function burst(
  { wire, cwd }: NoteContext,
  [note, count = '', sample = '']: RegExpExecArray,
): Promise<string> {
  const ids = Array.from({ length: Number(count) }, (_, index) => BURST_ID + index);
  for (const id of ids) wire('a').send({ id, method: 'fs/getMetadata', params: { path: cwd } });
  const expected = (JSON.parse(sample) as WireMessage).error;
  for (const id of ids) {
    const { error } = await wire('a').next(isResponseTo(id), `the answer to request ${id}`);
    if (error !== undefined && (error.code !== expected?.code || error.message !== expected.message))
      return `request ${id} failed with ${JSON.stringify(error)}`;
  }
  return note;
}

async function sendLongFrame({ wire, cwd }: NoteContext, mebibytes: number): Promise<string> {
  const id = FRAME_ID + mebibytes;
  const dataBase64 = 'A'.repeat(mebibytes * BYTES_PER_MIB);
  wire('a').send({ id, method: 'fs/writeFile', params: { path: `${cwd}/long`, dataBase64 } });
  try {
    const answer = await wire('a').next(isResponseTo(id), `the answer to ${mebibytes} MiB`);
    return `${JSON.stringify(answer)}; closed=null`;
  } catch (error) {
    const code = /the connection closed \((\d+)/.exec((error as Error).message)?.[1];
    return `no answer; closed=${code ?? null}`;
  }
}

function startWithToken({ start, bindings }: NoteContext) {
  const file = bindings.fillText('$TOKEN_FILE');
  const listen = ['--listen', 'ws://127.0.0.1:0'];
  return start([...listen, '--ws-auth', 'capability-token', '--ws-token-file', file]);
}

/** What became of the attempt, in the words of the recordings. */
async function tryToConnect(url: string, options: WireOptions = {}): Promise<string> {
  try {
    const wire = await openWire(url, options);
    wire.terminate();
    return 'open';
  } catch (error) {
    if (error instanceof UpgradeRefused) return `HTTP ${error.status} ${JSON.stringify(error.body)}`;
    return `error ${(error as Error).message}`;
  }
}

async function ask(port: number, method: string, path: string, headers: string) {
  const outgoing = request({
    host: '127.0.0.1',
    port,
    method,
    path,
    headers: parseHeaders(headers),
    agent: false,
  });
  outgoing.end();
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  const { allow } = response.headers;
  return {
    status: response.statusCode,
    body: await text(response),
    allow: allow === undefined ? '' : `allow=${allow}`,
  };
}

function parseHeaders(json: string): Record<string, string> {
  return json === '' ? {} : (JSON.parse(json) as Record<string, string>);
}

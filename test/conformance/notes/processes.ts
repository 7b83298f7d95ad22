import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isResponseTo, isRunning, waitForProcessGone } from '@exec-server/testing';
import { pollUntil } from '../poll-until.js';
import { isAsleep, waitForProcessIn } from '../wait-for-process-in.js';
import type { NoteActs, NoteContext } from './note.js';

/** Requests of the recorded flood of writes, and the size of each, in bytes. */
const FLOOD_WRITES = 200;
const FLOOD_WRITE_BYTES = 64 * 1024;
/** Ids of the recorded flood: the writes count from the first. */
const FLOOD_START_ID = 2;
const FLOOD_WRITE_ID = 1000;
const FLOOD_TERMINATE_ID = 7000;

/** What the recording's client saw of processes by other means than the wire. */
export const PROCESS_ACTS: NoteActs = [
  // How long something took is never compared.
  [/^(default timeout fired|finished|responded|final response) after /, async () => undefined],
  [
    /^the shell waits for `sleep (\d+)`$/,
    async ({ cwd }, [, seconds]) => {
      await waitForProcessIn(cwd, ['sleep', String(seconds)], ({ parent }) => isAsleep(parent));
      return undefined;
    },
  ],
  [
    /^the shell has left `sleep (\d+)` behind$/,
    async ({ cwd }, [, seconds]) => {
      // The server knows of the exit once it has reaped the shell, which leads the group.
      await waitForProcessIn(cwd, ['sleep', String(seconds)], ({ group }) => !existsSync(`/proc/${group}`));
      return undefined;
    },
  ],
  [
    /^grandchild still alive after terminate: false$/,
    async (context, [note]) => {
      await waitForProcessGone(lastPrintedPid(context));
      return note;
    },
  ],
  [
    /^alive before disconnect: (.*)$/,
    async ({ cwd }, [, expected = '']) => {
      const count = expected.split(',').length;
      await pollUntil(
        `${count} processes have written their ids`,
        () => readPids(cwd, 'pids').length === count,
      );
      return `alive before disconnect: ${readPids(cwd, 'pids').map(isRunning).join()}`;
    },
  ],
  [
    /^alive 0.5s after connection a closed: (?:false,?)+$/,
    async ({ cwd }, [note]) => {
      for (const pid of readPids(cwd, 'pids')) await waitForProcessGone(pid);
      return note;
    },
  ],
  [
    /^(.*): background pid alive 300ms after the final response: (true|false)$/,
    async (context, [note, what, expected]) => {
      const [pid = 0] = readPids(context.cwd, 'bg');
      if (expected === 'false') {
        await waitForProcessGone(pid);
        return note;
      }
      context.atEnd(() => isRunning(pid) && process.kill(pid, 'SIGKILL'));
      return `${what}: background pid alive 300ms after the final response: ${isRunning(pid)}`;
    },
  ],
  [
    /^server exit (\{.*\}) after \d+ms; child alive: false$/,
    async ({ cwd, stdio }, [note]) => {
      const exit = await stdio().exited;
      for (const pid of readPids(cwd, 'pid')) await waitForProcessGone(pid);
      return note.replace(/\{.*\}/, JSON.stringify(exit));
    },
  ],
  [/^200 writes of 64 KiB to a child that never reads: /, floodStdin],
  [/^terminate sent after 1s: /, terminateFlooded],
];

/** Starts a child that never reads and sends it more than its pipe and the server's queue hold. */
async function floodStdin({ wire }: NoteContext): Promise<undefined> {
  const chunk = Buffer.alloc(FLOOD_WRITE_BYTES, 'x').toString('base64');
  wire('a').send({
    id: FLOOD_START_ID,
    method: 'command/exec',
    params: {
      command: ['sleep', '20'],
      processId: 'bp',
      streamStdin: true,
      timeoutMs: 20_000,
      sandboxPolicy: { type: 'dangerFullAccess' },
    },
  });
  for (let at = 0; at < FLOOD_WRITES; at++) {
    wire('a').send({
      id: FLOOD_WRITE_ID + at,
      method: 'command/exec/write',
      params: { processId: 'bp', deltaBase64: chunk },
    });
  }
  await wire('a').next(isResponseTo(FLOOD_WRITE_ID), 'the answer to the first write');
}

/** Ends the child that never reads: control does not wait behind its input. */
async function terminateFlooded({ wire }: NoteContext): Promise<string> {
  wire('a').send({
    id: FLOOD_TERMINATE_ID,
    method: 'command/exec/terminate',
    params: { processId: 'bp' },
  });
  const answer = await wire('a').next(isResponseTo(FLOOD_TERMINATE_ID), 'the answer to terminate');
  const final = await wire('a').next(isResponseTo(FLOOD_START_ID), 'the end of the child');
  for (let at = 1; at < FLOOD_WRITES; at++) {
    await wire('a').next(isResponseTo(FLOOD_WRITE_ID + at), `the answer to write ${at}`);
  }
  return `terminate sent after 1s: answer ${JSON.stringify(answer)}; final ${JSON.stringify(final)}`;
}

function lastPrintedPid({ wire }: NoteContext): number {
  return Number(wire('a').received.findLast(({ result }) => result?.stdout !== undefined)?.result?.stdout);
}

function readPids(cwd: string, file: string): number[] {
  const path = join(cwd, file);
  if (!existsSync(path)) return [];
  return readFileSync(path, 'utf8').split('\n').filter(Boolean).map(Number);
}

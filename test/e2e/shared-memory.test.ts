import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { startServer, type Wire } from '@exec-server/testing';
import { expect, it, onTestFinished } from 'vitest';
import { notificationOf, openSession, startParams } from './session.js';

const KIB = 1024;
const COMMAND = fileURLToPath(new URL('../../packages/cli/bin/exec-server.js', import.meta.url));

/** Small enough for Node to cut its answer out of memory that it shares among buffers. */
const SMALL_BYTES = 20_000;
/** Sizes that memory of a pool which was taken for a spare would be used for. */
const LARGE_BYTES = [64 * KIB, 200 * KIB, 700 * KIB];
const ROUNDS = 6;
/** More answers than the kernel holds for a client that does not read. */
const UNREAD_ANSWERS = 400;
/** For as long as all the others work. */
const UNREAD_DEADLINE_MS = 60_000;
const SESSIONS = 4;

/** A server whose Node shares this much memory among small buffers, as newer versions do by themselves. */
async function serveWithPool(poolBytes: number): Promise<string> {
  const raise = `data:text/javascript,Buffer.poolSize=${poolBytes}`;
  const server = await startServer({ command: [process.execPath, '--import', raise, COMMAND] });
  onTestFinished(async () => void (await server.stop()));
  return server.url;
}

/** A session whose bytes are all the same, and no other's. */
class Worker {
  readonly #letter: string;
  #answers: Promise<unknown> = Promise.resolve();

  constructor(
    readonly wire: Wire,
    private readonly directory: string,
    private readonly index: number,
  ) {
    this.#letter = String.fromCharCode('A'.charCodeAt(0) + index);
  }

  /** Writes a small file, then asks for it again and again without taking the answers. */
  async askWithoutReading(): Promise<void> {
    await this.#write('small', SMALL_BYTES);
    this.wire.pause();
    this.#answers = Promise.all(
      Array.from({ length: UNREAD_ANSWERS }, () => this.#read('small', SMALL_BYTES, UNREAD_DEADLINE_MS)),
    );
    // A test that fails before they are taken does not fail for them, too.
    this.#answers.catch(() => {});
  }

  async takeAnswers(): Promise<void> {
    this.wire.resume();
    await this.#answers;
  }

  /** One round of everything whose memory is used again. */
  async work(round: number): Promise<void> {
    const large = LARGE_BYTES[round % LARGE_BYTES.length] as number;
    const name = `large-${round}`;
    await Promise.all([
      this.#write(name, large),
      this.#write('small', SMALL_BYTES),
      this.#print(`print-${round}`, SMALL_BYTES),
    ]);
    await Promise.all([this.#read('small', SMALL_BYTES), this.#read(name, large)]);
    const written = await readFile(this.#path(name));
    this.#expectOwn(written, large, 'a file that was written');
  }

  async #write(name: string, length: number): Promise<void> {
    const dataBase64 = Buffer.alloc(length, this.#letter).toString('base64');
    const { error } = await this.wire.request('fs/writeFile', { path: this.#uri(name), dataBase64 });
    expect(error).toBeUndefined();
  }

  async #read(name: string, length: number, deadlineMs?: number): Promise<void> {
    const { result } = await this.wire.request('fs/readFile', { path: this.#uri(name) }, deadlineMs);
    this.#expectOwn(Buffer.from(result?.dataBase64 as string, 'base64'), length, 'a file that was read');
  }

  async #print(processId: string, length: number): Promise<void> {
    const script = `head -c ${length} /dev/zero | tr '\\0' ${this.#letter}`;
    await this.wire.request('process/start', startParams(processId, ['/bin/sh', '-c', script]));
    await this.wire.next(notificationOf(processId, 'process/closed'), `the end of ${processId}`);
    const output = this.wire.takeUnread(notificationOf(processId, 'process/output'));
    const chunks = output.map(({ params }) => Buffer.from(params?.chunk as string, 'base64'));
    this.#expectOwn(Buffer.concat(chunks), length, 'output');
  }

  #expectOwn(bytes: Buffer, length: number, what: string): void {
    const letters = [...new Set(bytes)].map((byte) => String.fromCharCode(byte)).join('');
    expect([bytes.length, letters], what).toEqual([length, this.#letter]);
  }

  #path(name: string): string {
    return join(this.directory, `${this.index}-${name}`);
  }

  #uri(name: string): string {
    return pathToFileURL(this.#path(name)).href;
  }
}

it.each([64 * KIB, 256 * KIB, KIB * KIB])(
  'sessions see no bytes but their own where Node shares %i bytes among buffers',
  async (poolBytes) => {
    const directory = await mkdtemp(join(tmpdir(), 'exec-server-shared-memory-'));
    onTestFinished(() => rm(directory, { recursive: true }));
    const url = await serveWithPool(poolBytes);
    const [slow, ...others] = await Promise.all(
      Array.from({ length: SESSIONS }, async (_, index) => {
        const { wire } = await openSession(url);
        return new Worker(wire, directory, index);
      }),
    );
    await slow?.askWithoutReading();
    await Promise.all(
      others.map(async (worker) => {
        for (let round = 0; round < ROUNDS; round++) await worker.work(round);
      }),
    );
    await slow?.takeAnswers();
  },
);

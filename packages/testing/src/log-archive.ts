import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Where commands under test leave what they said on stderr; not set, they leave nothing. */
const DIRECTORY_VARIABLE = 'EXEC_SERVER_TEST_LOGS';

/** A secret in the environment of every command under test, under a name that its children inherit too. */
const CANARY_VARIABLE = 'LOG_CANARY';

/** Keeps what a command says on stderr for whoever looks through the logs of the whole run. */
export function archiveLog(pid: number | undefined, text: string): void {
  const directory = process.env[DIRECTORY_VARIABLE];
  if (directory !== undefined) appendFileSync(join(directory, `${pid}.log`), text);
}

/** Collects what all commands of a test run say, each of which is given a secret that it must not say. */
export class LogArchive {
  readonly #directory = mkdtempSync(join(tmpdir(), 'exec-server-logs-'));
  readonly #canary: string;

  /** `canary` is the secret. */
  constructor(canary: string) {
    this.#canary = canary;
    process.env[DIRECTORY_VARIABLE] = this.#directory;
    process.env[CANARY_VARIABLE] = canary;
  }

  /** Lines with the secret in them. */
  findLeaks(): string[] {
    const encoded = Buffer.from(this.#canary).toString('base64');
    return readdirSync(this.#directory)
      .flatMap((name) => readFileSync(join(this.#directory, name), 'utf8').split('\n'))
      .filter((line) => line.includes(this.#canary) || line.includes(encoded));
  }

  remove(): void {
    delete process.env[DIRECTORY_VARIABLE];
    delete process.env[CANARY_VARIABLE];
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

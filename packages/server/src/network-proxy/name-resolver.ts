import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';

/** Names looked up at once: each takes one of the few threads that also read files. */
export const MAX_LOOKUPS = 2;

/** Names that wait for their turn; one more has no address. */
export const MAX_WAITING_LOOKUPS = 256;

/** How long a program waits for a name before it has no address, in milliseconds. */
const LOOKUP_TIMEOUT_MS = 5_000;

/** Finds all addresses of a name. Rejects when there are none. */
export type LookupName = (name: string) => Promise<readonly string[]>;

const lookupInSystem: LookupName = async (name) => {
  const found = await lookup(name, { all: true, verbatim: true });
  return found.map(({ address }) => address);
};

/** Looks up names as the programs of this machine do, a few at a time. */
export class NameResolver {
  readonly #lookup: LookupName;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  /** @param lookupName how names are looked up; by default the system is asked */
  constructor(lookupName: LookupName = lookupInSystem) {
    this.#lookup = lookupName;
  }

  /** All addresses of a host, which may be an address itself; none when it has none, or not in time. Never rejects. */
  async resolve(host: string): Promise<readonly string[]> {
    if (isIP(host) !== 0) return [host];
    if (this.#waiting.length >= MAX_WAITING_LOOKUPS) return [];
    let timer: NodeJS.Timeout | undefined;
    const tooLate = new Promise<readonly string[]>((resolve) => {
      timer = setTimeout(() => resolve([]), LOOKUP_TIMEOUT_MS);
    });
    try {
      return await Promise.race([this.#lookupInTurn(host), tooLate]);
    } catch {
      return [];
    } finally {
      clearTimeout(timer);
    }
  }

  async #lookupInTurn(host: string): Promise<readonly string[]> {
    if (this.#running >= MAX_LOOKUPS) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#running++;
    try {
      return await this.#lookup(host);
    } finally {
      this.#running--;
      this.#waiting.shift()?.();
    }
  }
}

import { createHash } from 'node:crypto';
import type { Principal } from '../listen/principal.js';

/** Ids of forgotten processes that are remembered; the oldest go first. */
export const MAX_FORGOTTEN_IDS = 10_000;

/** Remembers that processes were there which are not any more, without keeping anything else of them. */
export class ForgottenIds {
  /** Digests, oldest first: ids may be long. */
  readonly #digests = new Set<string>();

  note(principal: Principal, processId: string): void {
    const digest = toDigest(principal, processId);
    this.#digests.delete(digest);
    this.#digests.add(digest);
    if (this.#digests.size <= MAX_FORGOTTEN_IDS) return;
    for (const oldest of this.#digests) {
      this.#digests.delete(oldest);
      return;
    }
  }

  /** Whether a process of that principal had the id, in whichever session. */
  has(principal: Principal, processId: string): boolean {
    return this.#digests.has(toDigest(principal, processId));
  }
}

function toDigest({ kind, subject }: Principal, processId: string): string {
  const text = JSON.stringify([kind, subject ?? null, processId]);
  return createHash('sha256').update(text).digest('base64');
}

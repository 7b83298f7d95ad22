import { MAX_WALK_RESPONSE_BYTES, WALK_ITEM_OVERHEAD_BYTES } from '@exec-server/protocol';

export interface WalkEntry {
  readonly uri: string;
  readonly kind: 'directory' | 'file';
}

export interface WalkFailure {
  readonly uri: string;
  readonly message: string;
}

/** What a walk has found, within the size that an answer may have. */
export class WalkOutcome {
  readonly entries: WalkEntry[] = [];
  readonly failures: WalkFailure[] = [];
  #truncated = false;
  #bytes = 0;

  /** A limit was reached. */
  get truncated(): boolean {
    return this.#truncated;
  }

  /** False when the answer is full. */
  addEntry(uri: string, kind: WalkEntry['kind']): boolean {
    return this.#add(uri.length) ? this.entries.push({ uri, kind }) > 0 : false;
  }

  /** False when the answer is full. */
  addError(uri: string, message: string): boolean {
    return this.#add(uri.length + message.length) ? this.failures.push({ uri, message }) > 0 : false;
  }

  truncate(): false {
    this.#truncated = true;
    return false;
  }

  #add(bytes: number): boolean {
    const total = this.#bytes + bytes + WALK_ITEM_OVERHEAD_BYTES;
    if (total > MAX_WALK_RESPONSE_BYTES) return this.truncate();
    this.#bytes = total;
    return true;
  }
}

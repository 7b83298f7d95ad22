import type { StreamName } from '../process-event.js';
import { completeLength } from './utf8.js';

/** Mixes streams by whole characters: the beginning of one waits for its end, whatever comes in between. */
export class CharacterMixer {
  readonly #severed = new Map<StreamName, Uint8Array>();

  /** What can be passed on now that this has come. */
  take(stream: StreamName, data: Uint8Array): Uint8Array {
    const severed = this.#severed.get(stream);
    const bytes = severed === undefined ? data : concatenate(severed, data);
    const complete = completeLength(bytes);
    if (complete < bytes.length) this.#severed.set(stream, bytes.slice(complete));
    else this.#severed.delete(stream);
    return bytes.subarray(0, complete);
  }

  /** What still waits, when nothing more will come. */
  flush(): readonly Uint8Array[] {
    const rest = [...this.#severed.values()];
    this.#severed.clear();
    return rest;
  }
}

function concatenate(first: Uint8Array, second: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(first.length + second.length);
  bytes.set(first);
  bytes.set(second, first.length);
  return bytes;
}

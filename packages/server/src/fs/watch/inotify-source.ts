import { Inotify, type InotifyEvent, InotifyMask } from '../../native/inotify.js';
import { type BytePath, toPathBytes } from './byte-path.js';
import type {
  Detail,
  DirectoryListener,
  DirectorySource,
  DirectoryWatch,
  EntryEvent,
} from './directory-source.js';

const NAMES_MASK =
  InotifyMask.create |
  InotifyMask.delete |
  InotifyMask.movedFrom |
  InotifyMask.movedTo |
  InotifyMask.attributes |
  InotifyMask.deleteSelf |
  InotifyMask.moveSelf |
  InotifyMask.onlyDirectory |
  InotifyMask.dontFollow |
  // Two listeners of one directory share its watch in the kernel: the second must not narrow the first.
  InotifyMask.add;

const MASKS: Readonly<Record<Detail, number>> = {
  names: NAMES_MASK,
  content: NAMES_MASK | InotifyMask.modify | InotifyMask.closeWrite,
};

const LOST = InotifyMask.deleteSelf | InotifyMask.moveSelf | InotifyMask.unmount;

/** Directories watched through one inotify queue. */
export class InotifySource implements DirectorySource {
  readonly #inotify: Inotify;
  readonly #listeners = new Map<number, Set<DirectoryListener>>();
  readonly #onOverflow: () => void;

  /** Throws where there is no inotify, and an `OsError` when the user has too many queues. */
  constructor(onOverflow: () => void) {
    this.#onOverflow = onOverflow;
    this.#inotify = new Inotify((event) => this.#dispatch(event));
  }

  watch(directory: BytePath, detail: Detail, listener: DirectoryListener): DirectoryWatch {
    const watch = this.#inotify.add(toPathBytes(directory), MASKS[detail]);
    const listeners = this.#listeners.get(watch) ?? new Set();
    this.#listeners.set(watch, listeners.add(listener));
    return {
      close: () => {
        if (!listeners.delete(listener) || listeners.size > 0) return;
        if (this.#listeners.get(watch) !== listeners) return;
        this.#listeners.delete(watch);
        this.#inotify.remove(watch);
      },
    };
  }

  close(): void {
    this.#listeners.clear();
    this.#inotify.close();
  }

  #dispatch({ watch, mask, name }: InotifyEvent): void {
    if ((mask & InotifyMask.queueOverflow) !== 0) {
      this.#onOverflow();
      return;
    }
    const listeners = this.#listeners.get(watch);
    if (listeners === undefined) return;
    // The kernel has ended the watch, because what it watched is gone.
    if ((mask & InotifyMask.ignored) !== 0) this.#listeners.delete(watch);
    const kind = name === '' ? undefined : kindOf(mask);
    // A listener that one before it has closed is skipped by the set itself.
    for (const listener of listeners) {
      if ((mask & LOST) !== 0) listener.onLost();
      else if (kind !== undefined) {
        listener.onEntry({ kind, name, isDirectory: (mask & InotifyMask.isDirectory) !== 0 });
      }
    }
  }
}

function kindOf(mask: number): EntryEvent['kind'] | undefined {
  if ((mask & (InotifyMask.create | InotifyMask.movedTo)) !== 0) return 'created';
  if ((mask & (InotifyMask.delete | InotifyMask.movedFrom)) !== 0) return 'removed';
  if ((mask & InotifyMask.modify) !== 0) return 'modified';
  if ((mask & InotifyMask.attributes) !== 0) return 'attributes';
  if ((mask & InotifyMask.closeWrite) !== 0) return 'closed';
  return undefined;
}

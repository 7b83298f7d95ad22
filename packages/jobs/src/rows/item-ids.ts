import { type Row, toText } from './row.js';

/** Names of one item. */
export interface ItemNames {
  /** Unique in the job. */
  readonly itemId: string;
  /** The value of the id column, where there is one that is not blank. */
  readonly sourceId: string | undefined;
}

/** Gives each row its name: the value of the id column, or `row-<1-based>`; a repeated one gets `-2`, `-3`, …. */
export class ItemIds {
  readonly #taken = new Set<string>();
  /** The number that the next repeat of a name begins at. */
  readonly #repeats = new Map<string, number>();
  #count = 0;

  constructor(private readonly idColumn: string | undefined) {}

  next(row: Row): ItemNames {
    this.#count++;
    const { idColumn } = this;
    const value = idColumn !== undefined && Object.hasOwn(row, idColumn) ? toText(row[idColumn]) : '';
    const sourceId = value.trim() === '' ? undefined : value;
    return { itemId: this.#take(sourceId ?? `row-${this.#count}`), sourceId };
  }

  #take(name: string): string {
    let free = name;
    if (this.#taken.has(name)) {
      let repeat = this.#repeats.get(name) ?? 2;
      while (this.#taken.has(`${name}-${repeat}`)) repeat++;
      free = `${name}-${repeat}`;
      this.#repeats.set(name, repeat + 1);
    }
    this.#taken.add(free);
    return free;
  }
}

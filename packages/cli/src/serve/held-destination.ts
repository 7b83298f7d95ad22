import type { LogDestination } from '@exec-server/server';

/** Keeps log lines back until they may be seen: clients take the first line on stderr for the address. */
export class HeldDestination implements LogDestination {
  #held: string[] | undefined = [];

  constructor(private readonly destination: LogDestination) {}

  write(line: string): void {
    if (this.#held === undefined) this.destination.write(line);
    else this.#held.push(line);
  }

  /** Writes what was held, and from now on everything at once. */
  release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const line of held) this.destination.write(line);
  }
}

import { readFileSync, writeFileSync } from 'node:fs';
import { platform } from 'node:process';

/** How much sooner than the server a child is to be ended when memory runs out, in thousandths of all memory. */
const CHILD_SURPLUS = 200;
const MAX_SCORE = 1000;

/**
 * Makes the kernel end children before the server when memory runs out: a server that dies of what a child took can
 * tell nobody what became of it. What the child starts inherits that.
 */
export class OomScore {
  readonly #ofChildren: string | undefined;

  constructor() {
    this.#ofChildren = platform === 'linux' ? chooseScore() : undefined;
  }

  /** Call it right after the spawn. A child that is gone already, or another user's by now, is let be. */
  raise(pid: number): void {
    if (this.#ofChildren === undefined) return;
    try {
      writeFileSync(`/proc/${pid}/oom_score_adj`, this.#ofChildren);
    } catch {
      // Worse off than with it, but no worse than without the attempt.
    }
  }
}

function chooseScore(): string | undefined {
  try {
    const own = Number(readFileSync('/proc/self/oom_score_adj', 'latin1'));
    return String(Math.min(own + CHILD_SURPLUS, MAX_SCORE));
  } catch {
    return undefined;
  }
}

import type { NodeMachine } from '@exec-server/client';
import type { PlaceFiles } from '../results/work-place.js';

/** A machine that workers run on. */
export interface MachineLink {
  readonly name: string;
  readonly machine: NodeMachine;
  /** Workers that run on it at once. */
  readonly slots: number;
  /** Keeps the files of workers. */
  readonly files: PlaceFiles;
  /** Directory of those files. */
  readonly root: string;
  /** Where workers run, as a `file:` URI. */
  readonly cwd: string;
  /** What a worker came to is kept until this runner has it, so that one that is not known was never started. */
  readonly keepsEnds: boolean;
  /**
   * Calls back when something changes in a directory, at least once after the last change, with its name where that is
   * known. Returns how to stop.
   */
  watch(directory: string, onChange: (name?: string) => void): () => void;
}

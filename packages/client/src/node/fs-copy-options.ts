import type { CopyPlan } from './fs-plan.js';

/** How far a copy has come. */
export interface CopyProgress {
  /** File that just advanced, from the root of the tree on; empty for a single file. */
  readonly path: string;
  /** Bytes copied so far. */
  readonly bytes: number;
  /** Bytes there were to copy when the copy began. */
  readonly totalBytes: number;
  /** Files that are complete. */
  readonly files: number;
  readonly totalFiles: number;
}

/** Options of `copyIn` and `copyOut`. */
export interface CopyOptions {
  /** Ends the copy with its reason. Files that are complete by then stay, others are as they were. */
  readonly signal?: AbortSignal;
  /** Called for every piece that was copied. What it throws ends the copy. */
  readonly onProgress?: (progress: CopyProgress) => void;
}

/** What a copy has done. */
export interface CopySummary {
  readonly bytes: number;
  readonly files: number;
  readonly directories: number;
  readonly links: number;
  /** Sockets, FIFOs and devices, which are not copied. */
  readonly skipped: readonly string[];
  /** False where the server cannot tell or set permissions: new files have those of any new file there. */
  readonly keptModes: boolean;
}

/** Counts what a copy does and tells who wants to know. */
export class CopyTally {
  readonly #plan: CopyPlan;
  readonly #onProgress: CopyOptions['onProgress'];
  readonly #totalBytes: number;
  #bytes = 0;
  #files = 0;

  constructor(plan: CopyPlan, onProgress: CopyOptions['onProgress']) {
    this.#plan = plan;
    this.#onProgress = onProgress;
    this.#totalBytes = plan.files.reduce((sum, { size }) => sum + size, 0);
  }

  addBytes(path: Buffer, count: number): void {
    this.#bytes += count;
    this.#tell(path);
  }

  addFile(path: Buffer): void {
    this.#files++;
    this.#tell(path);
  }

  summarize(keptModes: boolean): CopySummary {
    const { directories, links, skipped } = this.#plan;
    return {
      bytes: this.#bytes,
      files: this.#files,
      directories: directories.length,
      links: links.length,
      skipped,
      keptModes,
    };
  }

  #tell(path: Buffer): void {
    this.#onProgress?.({
      path: path.toString(),
      bytes: this.#bytes,
      totalBytes: this.#totalBytes,
      files: this.#files,
      totalFiles: this.#plan.files.length,
    });
  }
}

import type { CopyProgress } from '@exec-server/client';
import { toPrintable } from '../client/printable.js';
import type { OutputStream } from '../command-io.js';
import { toByteText } from './byte-text.js';

/** Shortest time between two pictures of the bar. */
const REDRAW_INTERVAL_MS = 100;

/** Width of a terminal that does not tell it. */
const DEFAULT_COLUMNS = 80;

const MAX_BAR_WIDTH = 30;
const MIN_BAR_WIDTH = 5;
const MAX_LABEL_SHARE = 0.4;

const ERASE_LINE = '\r\u001b[K';

/** Shows on a terminal how far a copy has come: one line, which stays when the copy is over. */
export class ProgressBar {
  readonly #stream: OutputStream;
  readonly #label: string;
  readonly #startedAtMs = performance.now();
  #drawnAtMs = Number.NEGATIVE_INFINITY;
  #latest: CopyProgress | undefined;

  constructor(stream: OutputStream, label: string) {
    this.#stream = stream;
    this.#label = toPrintable(label);
  }

  update(progress: CopyProgress): void {
    this.#latest = progress;
    if (performance.now() - this.#drawnAtMs >= REDRAW_INTERVAL_MS) this.#draw();
  }

  /** Leaves the last state and goes to the next line. */
  end(): void {
    if (this.#latest === undefined) return;
    this.#draw();
    this.#stream.write('\n');
  }

  #draw(): void {
    if (this.#latest === undefined) return;
    this.#drawnAtMs = performance.now();
    const elapsedMs = this.#drawnAtMs - this.#startedAtMs;
    // The last column stays free: some terminals go to the next line when it is written.
    const width = (this.#stream.columns ?? DEFAULT_COLUMNS) - 1;
    this.#stream.write(`${ERASE_LINE}${renderProgress(this.#label, this.#latest, elapsedMs, width)}`);
  }
}

/** The line for a terminal of `width` columns. What has no room is left out, the bar first. */
export function renderProgress(
  label: string,
  { bytes, totalBytes, files, totalFiles }: CopyProgress,
  elapsedMs: number,
  width: number,
): string {
  // A file may have grown since the copy began.
  const share = totalBytes === 0 ? files / Math.max(totalFiles, 1) : Math.min(bytes / totalBytes, 1);
  const speed = elapsedMs > 0 ? `  ${toByteText(Math.round((bytes * 1000) / elapsedMs))}/s` : '';
  const count = totalFiles > 1 ? `  ${files}/${totalFiles} files` : '';
  const numbers = `${String(Math.floor(share * 100)).padStart(3)}%  ${toByteText(bytes)}${speed}${count}`;
  const name = cutStart(label, Math.floor(width * MAX_LABEL_SHARE));
  const barWidth = Math.min(width - name.length - numbers.length - ' [] '.length, MAX_BAR_WIDTH);
  if (barWidth < MIN_BAR_WIDTH) return `${name} ${numbers}`.slice(0, Math.max(width, 0));
  const done = Math.floor(share * barWidth);
  return `${name} [${'#'.repeat(done)}${'-'.repeat(barWidth - done)}] ${numbers}`;
}

/** The end of a path says more than its beginning. */
function cutStart(text: string, width: number): string {
  return text.length <= width ? text : `…${text.slice(text.length - Math.max(width - 1, 0))}`;
}

import type { JobRun, RunningItem } from '@exec-server/jobs';
import { toPrintable } from '../client/printable.js';
import type { CommandIo, OutputStream } from '../command-io.js';
import { toProgressJson, toProgressLine } from './progress-text.js';

/** Shows how far a job is until it is stopped. */
export interface ProgressDisplay {
  /** Something has changed. */
  update(): void;
  /** Shows the last state. */
  stop(): void;
}

/** Shortest time between two pictures, in milliseconds. */
const REDRAW_INTERVAL_MS = 100;
/** Shortest time between two lines for programs, in milliseconds. */
const LINE_INTERVAL_MS = 1_000;
/** Running items that are shown. */
const MAX_SHOWN_ITEMS = 10;
const DEFAULT_COLUMNS = 80;
const ERASE_BELOW = '\u001b[J';

/** On a terminal a picture, elsewhere a line of JSON for each change, at most one each second. */
export function showProgress(run: JobRun, io: CommandIo, json: boolean): ProgressDisplay {
  return !json && io.stderr.isTTY === true ? drawProgress(run, io.stderr) : writeProgress(run, io.stdout);
}

function drawProgress(run: JobRun, stream: OutputStream): ProgressDisplay {
  let height = 0;
  const draw = (items: readonly RunningItem[]) => {
    // The last column stays free: some terminals go to the next line when it is written.
    const width = (stream.columns ?? DEFAULT_COLUMNS) - 1;
    const lines = [toProgressLine(run.id, run.progress()), ...items.slice(0, MAX_SHOWN_ITEMS).map(describe)];
    if (items.length > MAX_SHOWN_ITEMS) lines.push(`  and ${items.length - MAX_SHOWN_ITEMS} more`);
    const up = height === 0 ? '\r' : `\r\u001b[${height}A`;
    stream.write(`${up}${ERASE_BELOW}${lines.map((line) => line.slice(0, width)).join('\n')}`);
    height = lines.length - 1;
  };
  const limiter = limit(REDRAW_INTERVAL_MS, () => draw(run.progress().runningItems));
  // The times of running items pass without a change.
  const ticking = setInterval(limiter.update, LINE_INTERVAL_MS);
  return {
    update: limiter.update,
    stop() {
      clearInterval(ticking);
      limiter.stop();
      draw([]);
      stream.write('\n');
    },
  };
}

function describe({ itemId, attempt, machine, startedAt }: RunningItem): string {
  const seconds = Math.max(0, Math.floor((Date.now() - startedAt) / 1000));
  const again = attempt > 1 ? `  attempt ${attempt}` : '';
  return `  ${toPrintable(itemId)}  ${seconds}s  ${toPrintable(machine)}${again}`;
}

function writeProgress(run: JobRun, stream: OutputStream): ProgressDisplay {
  let last = '';
  const write = () => {
    const line = toProgressJson(run.id, run.progress());
    if (line !== last) stream.write(`${line}\n`);
    last = line;
  };
  const limiter = limit(LINE_INTERVAL_MS, write);
  return {
    update: limiter.update,
    stop() {
      limiter.stop();
      write();
    },
  };
}

/** Acts on the first call at once, and on those that follow together. */
function limit(intervalMs: number, act: () => void) {
  let timer: NodeJS.Timeout | undefined;
  let isWanted = false;
  const update = () => {
    if (timer !== undefined) {
      isWanted = true;
      return;
    }
    act();
    timer = setTimeout(() => {
      timer = undefined;
      if (!isWanted) return;
      isWanted = false;
      update();
    }, intervalMs);
  };
  return { update, stop: () => clearTimeout(timer) };
}

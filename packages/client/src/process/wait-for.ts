import { checkOptions } from '../check-options.js';
import type { StreamName } from '../process-event.js';
import type { ProcessSession } from '../process-session.js';
import { requireCapability } from '../require-capability.js';
import type { SessionClient } from '../session-client.js';
import { requireWholeNumber, usageError } from '../usage.js';
import { untilQuiet } from './drain-output.js';
import { ExitError } from './errors.js';
import { LineSplitter } from './line-splitter.js';
import { linkAbort } from './link-abort.js';
import { describeOutcome } from './outcome.js';
import { isPartOf, type OutputName } from './output-view.js';
import type { ProcessRecord } from './process-record.js';
import { readUntilEnd } from './read-until-end.js';
import { type WaitOptions, waitWithin } from './wait.js';

/** Until the process writes something, or has written it already. */
export type TextCondition = WaitOptions & {
  /** Where to look. @default 'all' */
  readonly stream?: OutputName;
  /** Only behind this cursor, such as `handle.cursor` before something is written to it. @default 0, all that is retained */
  readonly from?: number;
} & (
    | {
        /** A whole line that contains the text, or matches. */
        readonly line: string | RegExp;
        readonly text?: never;
      }
    | {
        /** A line, also one that has not ended, that contains the text, or matches: for prompts. */
        readonly text: string | RegExp;
        readonly line?: never;
      }
  );

/** Until something accepts connections. */
export interface PortCondition extends WaitOptions {
  /** TCP port on the server's host. */
  readonly port: number;
  /** @default the loopback addresses of the server's host */
  readonly host?: string;
}

/** Until nothing was written for a while. */
export interface QuietCondition extends WaitOptions {
  /** Milliseconds without output. */
  readonly quietMs: number;
}

export type WaitForCondition = TextCondition | PortCondition | QuietCondition;

/** What waiting takes. */
export interface WaitForContext {
  readonly client: SessionClient;
  readonly session: ProcessSession;
  readonly record: ProcessRecord;
  /** Names the process in messages to people. */
  readonly program: string;
}

/** Longest that the server is asked to watch a port at once, in milliseconds: who has left must not keep it waiting. */
const PORT_WATCH_MS = 10_000;

/** What the answer to that may take beyond it, in milliseconds. */
const PORT_ANSWER_MS = 30_000;

/** The end of a sentence that says what a process ended before. */
const BECAME_QUIET = 'its output was quiet';

/** What can be waited for, with the options that mean something to each. */
const KINDS = {
  line: ['stream', 'from'],
  text: ['stream', 'from'],
  port: ['host'],
  quietMs: [],
} as const satisfies Readonly<Record<string, readonly string[]>>;

const KIND_NAMES = Object.keys(KINDS) as (keyof typeof KINDS)[];
const CONDITION_NAMES = ['line', 'text', 'stream', 'from', 'port', 'host', 'quietMs', 'timeoutMs', 'signal'];

/** Resolves when the condition holds, with the line that did it where it is about text. */
export async function waitForCondition(
  condition: WaitForCondition,
  context: WaitForContext,
): Promise<string | undefined> {
  checkOptions('waitFor', condition, CONDITION_NAMES);
  const kind = checkKind(condition);
  const { controller, unlink } = linkAbort(condition.signal);
  try {
    const [met, missing] = start(kind, condition, context, controller.signal);
    return await waitWithin(met, condition, context.record, missing);
  } finally {
    unlink();
    controller.abort();
  }
}

/** What would not be waited for, or looked at, is refused: whoever asks for it counts on it. */
function checkKind(condition: WaitForCondition): keyof typeof KINDS {
  const given = Object.entries(condition).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  const kinds = KIND_NAMES.filter((name) => given.includes(name));
  const [kind] = kinds;
  if (kind === undefined) throw usageError('waitFor needs `line`, `text`, `port` or `quietMs`');
  if (kinds.length > 1)
    throw usageError(`waitFor waits for one thing at a time, not for ${kinds.join(' and ')}`);
  checkOptions(`waitFor of \`${kind}\``, Object.fromEntries(given.map((name) => [name, true])), [
    kind,
    ...KINDS[kind],
    'timeoutMs',
    'signal',
  ]);
  return kind;
}

/** Begins to wait, and says what will be missing if it takes too long. */
function start(
  kind: keyof typeof KINDS,
  condition: WaitForCondition,
  context: WaitForContext,
  signal: AbortSignal,
): [Promise<string | undefined>, string] {
  if (kind === 'port' && 'port' in condition) {
    const waiting = waitForPort(condition, context, signal);
    return [
      unlessEnded(waiting, context, `port ${condition.port} opened`),
      `port ${condition.port} did not open`,
    ];
  }
  if (kind === 'quietMs' && 'quietMs' in condition) {
    const waiting = waitForQuiet(condition, context, signal);
    return [unlessEnded(waiting, context, BECAME_QUIET), 'the output did not become quiet'];
  }
  const text = condition as TextCondition;
  const pattern = text.line ?? text.text;
  return [waitForText(text, pattern, context, signal), `${pattern} did not show`];
}

async function waitForPort(
  { port, host }: PortCondition,
  { client }: WaitForContext,
  signal: AbortSignal,
): Promise<undefined> {
  await requireCapability(client, 'netWaitForPort');
  const params = { port, timeoutMs: PORT_WATCH_MS, ...(host !== undefined && { host }) };
  const options = { signal, timeoutMs: PORT_WATCH_MS + PORT_ANSWER_MS, resend: true };
  while (!signal.aborted) {
    const { open } = await client.call('net/waitForPort', params, options);
    if (open) return undefined;
  }
  return undefined;
}

async function waitForQuiet(
  { quietMs }: QuietCondition,
  context: WaitForContext,
  signal: AbortSignal,
): Promise<undefined> {
  requireWholeNumber('quietMs', quietMs);
  await untilQuiet(context.session, context.record, quietMs, signal);
  // The silence of the dead does not count.
  if (context.record.outcome !== undefined) throw endedFirst(context, BECAME_QUIET);
  return undefined;
}

async function waitForText(
  { line, stream = 'all', from }: TextCondition,
  pattern: string | RegExp,
  context: WaitForContext,
  signal: AbortSignal,
): Promise<string> {
  requireWholeNumber('from', from);
  const wantsWholeLines = line !== undefined;
  const splitters = new Map<StreamName, LineSplitter>();
  for await (const event of readUntilEnd(context, signal, from)) {
    if (!isPartOf(event.stream, stream)) continue;
    const splitter = splitters.get(event.stream) ?? new LineSplitter();
    splitters.set(event.stream, splitter);
    const lines = splitter.push(event.data);
    const shown = wantsWholeLines ? lines : [...lines, splitter.rest];
    const found = shown.find((candidate) => matches(candidate, pattern));
    if (found !== undefined) return found;
  }
  const rest = [...splitters.values()].flatMap((splitter) => splitter.end());
  const found = rest.find((candidate) => matches(candidate, pattern));
  if (found !== undefined) return found;
  throw endedFirst(context, `${pattern} showed`);
}

function matches(text: string, pattern: string | RegExp): boolean {
  // Unlike `test`, it does not depend on where a global pattern left off.
  return typeof pattern === 'string' ? text.includes(pattern) : text.search(pattern) >= 0;
}

async function unlessEnded<T>(waiting: Promise<T>, context: WaitForContext, what: string): Promise<T> {
  const ended = context.record.ended.then((): never => {
    throw endedFirst(context, what);
  });
  return Promise.race([waiting, ended]);
}

export function endedFirst({ record, program }: WaitForContext, what: string): Error {
  const result = record.summarize();
  return (
    record.error ?? new ExitError(`${program} ${describeOutcome(result.outcome)} before ${what}`, result)
  );
}

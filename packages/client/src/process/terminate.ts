import type { ParamsOf, SignalName } from '@exec-server/protocol';
import { checkOptions } from '../check-options.js';
import { CapabilityMissingError } from '../errors.js';
import type { ProcessSession } from '../process-session.js';
import type { SessionClient } from '../session-client.js';
import { requireWholeNumber } from '../usage.js';
import type { Outcome } from './outcome.js';
import type { ProcessRecord } from './process-record.js';
import type { ProcessTarget } from './process-target.js';
import { settleWithin } from './wait.js';

/** How to end a process. */
export interface TerminateOptions {
  /** What it is told first. @default 'SIGTERM' */
  readonly signal?: SignalName;
  /** Time it then has before everything is killed, in milliseconds; 0 kills at once. @default the handle's `graceMs` */
  readonly graceMs?: number;
}

/** What ending a process came to. */
export interface TerminateResult {
  /** False when it had ended before; then `pids` are those whom it had left running. */
  readonly wasRunning: boolean;
  /** Who was signalled: the process and everything it started. Absent where the server does not tell. */
  readonly pids: readonly number[] | undefined;
  /** What it was told first. A server without grace kills at once, and then this is `SIGKILL`. */
  readonly signal: SignalName;
  /** The time that it had, in milliseconds. */
  readonly graceMs: number;
  readonly outcome: Outcome;
}

/** What ending a process takes. */
export interface TerminateContext {
  readonly client: SessionClient;
  readonly session: ProcessSession;
  readonly record: ProcessRecord;
  readonly target: ProcessTarget;
  readonly sendSignal: (name: SignalName) => Promise<void>;
  /** Resolves when process and output are at their end. */
  readonly settled: () => Promise<void>;
}

type FirstWord = Pick<TerminateResult, 'pids' | 'signal' | 'graceMs'>;

const OPTION_NAMES: readonly (keyof TerminateOptions)[] = ['signal', 'graceMs'];

/** Ends a process with everything it started and waits until it is gone. */
export async function terminateProcess(
  context: TerminateContext,
  options: TerminateOptions,
  defaultGraceMs: number,
): Promise<TerminateResult> {
  checkOptions('terminate', options, OPTION_NAMES);
  const { record, settled } = context;
  const { graceMs = defaultGraceMs, signal = 'SIGTERM' } = options;
  requireWholeNumber('graceMs', graceMs);
  const { outcome } = record;
  if (outcome !== undefined)
    return { wasRunning: false, pids: await endLeftovers(context), signal: 'SIGKILL', graceMs: 0, outcome };
  const told = await endWith(context, graceMs === 0 ? 'SIGKILL' : signal, graceMs);
  await settled();
  return { wasRunning: true, ...told, outcome: record.outcome as Outcome };
}

/** Kills what a process that has ended left running, where the server can. */
async function endLeftovers(context: TerminateContext): Promise<readonly number[] | undefined> {
  if (!(await context.client.supports('processGracefulTerminate'))) return undefined;
  return await callTerminate(context, { wait: true, leftovers: true });
}

async function endWith(context: TerminateContext, signal: SignalName, graceMs: number): Promise<FirstWord> {
  if (await context.client.supports('processGracefulTerminate')) {
    const mode = signal === 'SIGKILL' ? 'force' : { graceful: { timeoutMs: graceMs, signal } };
    const told = signal === 'SIGKILL' ? { signal, graceMs: 0 } : { signal, graceMs };
    return { ...told, pids: await callTerminate(context, { mode, wait: true }) };
  }
  if (signal !== 'SIGKILL' && (await isSent(context, signal))) {
    await settleWithin(context.record.ended, graceMs);
    return { signal, graceMs, pids: await callTerminate(context) };
  }
  return { signal: 'SIGKILL', graceMs: 0, pids: await callTerminate(context) };
}

/** False for a signal that the server cannot send. */
async function isSent(context: TerminateContext, signal: SignalName): Promise<boolean> {
  try {
    await context.sendSignal(signal);
    return true;
  } catch (error) {
    if (error instanceof CapabilityMissingError) return false;
    throw error;
  }
}

async function callTerminate(
  { client, session, target, record }: TerminateContext,
  how: Pick<ParamsOf<'process/terminate'>, 'mode' | 'wait' | 'leftovers'> = {},
): Promise<readonly number[] | undefined> {
  const { running, pids } = await client.call('process/terminate', { ...target, ...how }, { resend: true });
  // It has ended, or is not known any more; either way there is news of it that did not get here.
  if (!running && record.outcome === undefined) await session.catchUp();
  return pids;
}

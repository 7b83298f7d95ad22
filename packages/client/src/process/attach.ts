import type { ResultOf } from '@exec-server/protocol';
import { checkOptions } from '../check-options.js';
import { requireCapability } from '../require-capability.js';
import type { SessionClient } from '../session-client.js';
import { requireOneOf, requireWholeNumber } from '../usage.js';
import { findListedProcess } from './find-process.js';
import { ProcessHandle, type ProcessHandleOptions } from './process-handle.js';
import { ProcessRecord } from './process-record.js';
import { PtyHandle } from './pty-handle.js';
import { keptLimits } from './spawn.js';
import { type OutputOptions, TRUNCATIONS } from './spawn-options.js';

/** How to follow a process that runs already. */
export interface AttachOptions {
  /** Events up to this cursor are known already. @default 0, all that is retained */
  readonly from?: number;
  /** Only watch, or also write, signal, resize and terminate. Of one's own session everything is allowed. @default 'control' */
  readonly mode?: 'view' | 'control';
  /** The session it belongs to. @default the client's own, or else whichever has a process of that name */
  readonly sessionId?: string;
  /** What the handle collects from here on. */
  readonly output?: Omit<OutputOptions, 'spill'>;
  readonly signal?: AbortSignal;
}

const OPTION_NAMES = ['from', 'mode', 'sessionId', 'output', 'signal'];
const OUTPUT_NAMES = ['headBytes', 'tailBytes', 'truncate'];
const MODES = ['view', 'control'] as const;

/** What is known of a process before it is followed. */
interface FoundProcess {
  readonly sessionId: string;
  readonly pid?: number;
  readonly tty?: boolean;
  readonly argv?: readonly string[];
  readonly spill?: ResultOf<'process/list'>['processes'][number]['spill'];
}

/** Follows a process of this session that nobody follows, or one of another session of the same principal. */
export async function attachProcess(
  client: SessionClient,
  processId: string,
  options: AttachOptions = {},
): Promise<ProcessHandle> {
  checkOptions('attach', options, OPTION_NAMES);
  const { from = 0, mode = 'control', output = {}, signal } = options;
  checkOptions('`output`', output, OUTPUT_NAMES);
  requireWholeNumber('from', from);
  requireWholeNumber('output.headBytes', output.headBytes);
  requireWholeNumber('output.tailBytes', output.tailBytes);
  requireOneOf('output.truncate', output.truncate, TRUNCATIONS);
  requireOneOf('mode', mode, MODES);
  const callOptions = signal === undefined ? {} : { signal };
  await client.ready(signal);
  const found = await findProcess(client, processId, options);
  const isForeign = found.sessionId !== client.sessionId;
  if (isForeign) await requireCapability(client, 'processAttach');
  const canClose = await client.supports('processCloseStdin');
  const target = { processId, ...(isForeign && { sessionId: found.sessionId }) };
  const session = client.registerProcess(processId, {
    ...target,
    afterSeq: from,
    // Who only watches slows nobody.
    ...(isForeign && mode === 'view' && { slowReader: 'lag' as const }),
  });
  const record = new ProcessRecord(keptLimits(output));
  session.listen((event) => record.take(event));
  try {
    const attached = isForeign
      ? await client.call('process/attach', { ...target, afterSeq: from, mode }, callOptions)
      : found;
    if (!isForeign) await session.catchUp();
    const spills = attached.spill !== undefined && attached.spill !== null;
    const handleOptions: ProcessHandleOptions = {
      client,
      session,
      record,
      target,
      pid: attached.pid,
      program: attached.argv?.[0] ?? processId,
      stdin: { kind: attached.tty === true ? 'tty' : 'pipe', canClose },
      graceMs: undefined,
      spills,
      spillsFromStart: spills && from === 0,
      isAttached: isForeign,
    };
    return attached.tty === true ? new PtyHandle(handleOptions) : new ProcessHandle(handleOptions);
  } catch (error) {
    session.unregister();
    // The server may have attached it all the same, for nobody: the call was aborted, or its answer came too late.
    if (isForeign) client.call('process/detach', target).catch(() => {});
    throw error;
  }
}

async function findProcess(
  client: SessionClient,
  processId: string,
  { sessionId, signal }: AttachOptions,
): Promise<FoundProcess> {
  const ownSessionId = client.sessionId ?? '';
  if (sessionId !== undefined && sessionId !== ownSessionId) return { sessionId };
  if (!(await client.supports('processTags'))) {
    // A server that cannot list has only this session's to offer. Beyond its last event a read has nothing to tell.
    await client.call('process/read', { processId, afterSeq: Number.MAX_SAFE_INTEGER }, signal && { signal });
    return { sessionId: ownSessionId };
  }
  return findListedProcess(client, processId, sessionId, signal && { signal });
}

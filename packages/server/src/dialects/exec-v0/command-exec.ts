import { nativeToPathUri, type v0 } from '@exec-server/protocol';
import { type EndReader, ExitAfterOutput } from '../../output/exit-after-output.js';
import type { RetainedChunk } from '../../output/retained-log.js';
import type { StartRequest } from '../../process/launch-plan.js';
import type { ProcessExit } from '../../process/process-exit.js';
import * as engineStart from '../../process/start.js';
import type { ConnectionScope, HandlerContext } from '../dialect.js';
import { answerStart } from '../exec/start-request.js';
import { ProcessSinks } from '../process-sinks.js';
import { Commands } from './commands.js';

export function startCommand(
  params: v0.CommandExecParams,
  { engine, session, connection }: HandlerContext,
): Promise<v0.CommandExecResult> {
  const commands = connection.keep(Commands);
  return commands.number(async (sessionId) => {
    const reader = new CommandReader(connection, sessionId, () => commands.free(sessionId));
    const sink = new ExitAfterOutput(reader, engine.clock);
    const request = toStartRequest(sessionId, params);
    await connection
      .keep(ProcessSinks)
      .during(sessionId, sink, () => answerStart(engineStart.startProcess(engine, session, request, {})));
    return { sessionId };
  });
}

function toStartRequest(
  processId: string,
  { argv, cwd, env, tty, arg0 }: v0.CommandExecParams,
): StartRequest {
  return {
    processId,
    command: { way: 'direct', arg0, env, extraEnv: new Map() },
    argv,
    cwd: Buffer.from(cwd),
    cwdText: nativeToPathUri(cwd),
    tty,
    pipeStdin: false,
    tags: {},
  };
}

/** Sends what a process writes and how it ends to the connection that started it. */
class CommandReader implements EndReader {
  constructor(
    private readonly connection: ConnectionScope,
    private readonly sessionId: string,
    private readonly onEnd: () => void,
  ) {}

  get writable(): boolean {
    return this.connection.writable;
  }

  whenWritable(): Promise<void> {
    return this.connection.whenWritable();
  }

  output({ stream, data }: RetainedChunk): void {
    const delta: v0.CommandExecOutputDeltaNotification = {
      sessionId: this.sessionId,
      stream: stream === 'pty' ? 'stdout' : stream,
      chunk: data.toString('base64'),
    };
    this.connection.notify('command/exec/outputDelta', delta);
  }

  ended({ exitCode }: ProcessExit): void {
    const exited: v0.CommandExecExitedNotification = { sessionId: this.sessionId, exitCode };
    this.connection.notify('command/exec/exited', exited);
    this.onEnd();
  }
}

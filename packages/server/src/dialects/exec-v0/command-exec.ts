import { nativeToPathUri, type v0 } from '@exec-server/protocol';
import { type EndReader, ExitAfterOutput } from '../../output/exit-after-output.js';
import type { RetainedChunk } from '../../output/retained-chunk.js';
import type { StartRequest } from '../../process/launch-plan.js';
import type { ProcessExit } from '../../process/process-exit.js';
import * as engineStart from '../../process/start.js';
import { terminateOnCompletion } from '../../terminate/on-completion.js';
import type { ConnectionScope, HandlerContext } from '../dialect.js';
import { answerFailedStart } from '../exec/start-request.js';
import { ProcessSinks } from '../process-sinks.js';
import { CommandNumbers } from './command-numbers.js';

export function startCommand(
  params: v0.CommandExecParams,
  { engine, session, connection }: HandlerContext,
): Promise<v0.CommandExecResult> {
  return connection.keep(CommandNumbers).take(async (number) => {
    const sessionId = `session-${number}`;
    const request = toStartRequest(sessionId, params);
    const letGo = () => {
      const slot = engine.registry.find(session.id, sessionId);
      if (slot?.process !== undefined) terminateOnCompletion(engine, session, slot.process);
    };
    const sink = new ExitAfterOutput(new CommandReader(connection, sessionId, letGo), engine.clock);
    const starting = connection
      .keep(ProcessSinks)
      .during(sessionId, sink, () => engineStart.startProcess(engine, session, request, {}));
    await answerFailedStart(starting);
    return { sessionId };
  });
}

function toStartRequest(processId: string, params: v0.CommandExecParams): StartRequest {
  const { argv, cwd, env, tty, arg0 } = params;
  return {
    processId,
    command: { way: 'direct', arg0, env, extraEnv: new Map() },
    argv,
    cwd: Buffer.from(cwd),
    cwdText: nativeToPathUri(cwd),
    tty,
    pipeStdin: false,
    retainClosed: false,
    tags: {},
  };
}

/** Sends what a process writes, and behind that how it ended, to the connection that started it. */
class CommandReader implements EndReader {
  constructor(
    private readonly connection: ConnectionScope,
    private readonly sessionId: string,
    private readonly letGo: () => void,
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
    this.letGo();
  }
}

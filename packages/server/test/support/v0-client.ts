import type { ExecServer } from '@exec-server/server';
import { type InProcessWire, openInProcessWire } from '@exec-server/testing';

/** A client of the oldest generation: what it may call, and what it is told about one process. */
export class V0Client {
  constructor(readonly wire: InProcessWire) {}

  /** Starts a program and answers its id. */
  async start(argv: readonly string[], changes: object = {}): Promise<string> {
    const { result, error } = await this.wire.request('command/exec', commandParams(argv, changes));
    if (result === undefined) throw new Error(`command/exec failed: ${JSON.stringify(error)}`);
    return result.sessionId as string;
  }

  startShell(script: string, changes: object = {}): Promise<string> {
    return this.start(['/bin/sh', '-c', script], changes);
  }

  write(sessionId: string, text: string) {
    const chunk = Buffer.from(text).toString('base64');
    return this.wire.request('command/exec/write', { sessionId, chunk });
  }

  terminate(sessionId: string) {
    return this.wire.request('command/exec/terminate', { sessionId });
  }

  /** Waits for the end of a process; everything that was told about it, in order. */
  async untilExited(sessionId: string): Promise<{ exitCode: number; stdout: string; stderr: string }> {
    const { params } = await this.wire.next(
      (message) => message.method === 'command/exec/exited' && message.params?.sessionId === sessionId,
      `the end of ${sessionId}`,
    );
    const printed = (stream: string) => this.printed(sessionId, stream);
    return { exitCode: params?.exitCode as number, stdout: printed('stdout'), stderr: printed('stderr') };
  }

  /** What a process has printed so far. */
  printed(sessionId: string, stream: string): string {
    const deltas = this.wire.received.filter(
      ({ method, params }) =>
        method === 'command/exec/outputDelta' && params?.sessionId === sessionId && params.stream === stream,
    );
    return Buffer.concat(
      deltas.map(({ params }) => Buffer.from(params?.chunk as string, 'base64')),
    ).toString();
  }

  /** Waits until a process has printed something that holds `text`. */
  async untilPrinted(sessionId: string, text: string): Promise<string> {
    while (!this.printed(sessionId, 'stdout').includes(text)) {
      await this.wire.next(
        ({ method, params }) => method === 'command/exec/outputDelta' && params?.sessionId === sessionId,
        `${sessionId} to print ${text}`,
      );
    }
    return this.printed(sessionId, 'stdout');
  }
}

/** A connection of the oldest generation that has shaken hands. */
export async function openV0(server: ExecServer): Promise<V0Client> {
  const wire = openInProcessWire(server);
  await wire.request('initialize', { clientName: 'v0' });
  wire.send({ method: 'initialized' });
  return new V0Client(wire);
}

/** Params of `command/exec` with everything that tests do not care about. */
export function commandParams(argv: readonly string[], changes: object = {}): object {
  return {
    argv,
    cwd: '/tmp',
    env: { PATH: '/usr/local/bin:/usr/bin:/bin' },
    tty: false,
    arg0: null,
    ...changes,
  };
}

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { ServerLimitOptions } from '@exec-server/server';

const PROGRAM = fileURLToPath(new URL('./server.mjs', import.meta.url));

/** What a server holds at one moment, after a garbage collection. */
export interface Holdings {
  readonly residentBytes: number;
  readonly heapBytes: number;
  readonly descriptors: number;
  /** Pending ones of its clock. */
  readonly timers: number;
  readonly connections: number;
  readonly sessions: number;
  /** Running ones, and closed ones that can still be read. */
  readonly processes: number;
  readonly queuedBytes: number;
}

/** The built server in a process of its own, which can be asked what it holds. */
export class MeasuredServer implements AsyncDisposable {
  private constructor(
    readonly url: string,
    private readonly child: ChildProcess,
  ) {}

  static async start(limits: ServerLimitOptions): Promise<MeasuredServer> {
    const child = fork(PROGRAM, [JSON.stringify(limits)], { execArgv: ['--expose-gc'] });
    const [{ url }] = (await once(child, 'message')) as [{ url: string }];
    return new MeasuredServer(url, child);
  }

  async measure(): Promise<Holdings> {
    const answered = once(this.child, 'message');
    this.child.send('measure');
    const [holdings] = (await answered) as [Holdings];
    return holdings;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const exited = once(this.child, 'exit');
    this.child.disconnect();
    await exited;
  }
}

import { EIO } from './constants.js';
import { DescriptorSource } from './descriptor-source.js';
import { DescriptorTarget } from './descriptor-target.js';
import type { InputTarget, LaunchedProcess } from './launch.js';
import type { Libc } from './libc.js';
import { readEofCharacter, setTerminalSize, type TerminalSize } from './pty.js';

/** Our side of what a child reads and writes. One for each live child: kept small, and nothing of its start. */
export interface Channels extends Pick<LaunchedProcess, 'outputs' | 'input' | 'resize'> {
  /** The direct child has been reaped. */
  onExit(): void;
}

/** Our ends of a child's pipes; `stdin` is null when the child reads /dev/null. */
export interface OurPipeEnds {
  readonly stdin: number | null;
  readonly stdout: number;
  readonly stderr: number;
}

export class PipeChannels implements Channels {
  readonly outputs: readonly [DescriptorSource, DescriptorSource];
  readonly input: InputTarget | null;

  constructor(libc: Libc, { stdin, stdout, stderr }: OurPipeEnds) {
    const out = new DescriptorSource(libc, 'stdout', stdout);
    const err = new DescriptorSource(libc, 'stderr', stderr);
    out.readAfter(err);
    err.readAfter(out);
    this.outputs = [out, err];
    this.input = stdin === null ? null : new PipeInput(new DescriptorTarget(libc, stdin), this);
  }

  resize(): never {
    throw new Error('only a pty has a size');
  }

  wake(): void {
    for (const source of this.outputs) source.wake();
  }

  onExit(): void {
    this.wake();
  }
}

class PipeInput implements InputTarget {
  constructor(
    private readonly target: DescriptorTarget,
    private readonly channels: PipeChannels,
  ) {}

  /** What is written is likely to be answered. */
  write(bytes: Uint8Array): Promise<void> {
    this.channels.wake();
    return this.target.write(bytes);
  }

  endMark(): undefined {
    return this.target.endMark();
  }

  close(): void {
    this.target.close();
  }
}

/** Our descriptors of a child's terminal. */
export interface OurPtyEnds {
  readonly master: number;
  /** A duplicate of `master`: one descriptor has one watch. */
  readonly writeEnd: number;
  /** Held until the child is reaped. */
  readonly slave: number;
}

export class PtyChannels implements Channels {
  readonly outputs: readonly [DescriptorSource];
  readonly input: InputTarget;
  readonly #libc: Libc;
  readonly #slave: number;
  readonly #target: DescriptorTarget;
  #reaped = false;
  #readToEnd = false;

  constructor(libc: Libc, { master, writeEnd, slave }: OurPtyEnds) {
    this.#libc = libc;
    this.#slave = slave;
    this.#target = new DescriptorTarget(libc, writeEnd);
    const source = new DescriptorSource(libc, 'pty', master, () => {
      this.#readToEnd = true;
      this.#failWhenOver();
    });
    this.outputs = [source];
    this.input = new PtyInput(libc, this.#target, source);
  }

  resize(size: TerminalSize): void {
    this.#target.use((fd) => setTerminalSize(this.#libc, fd, size));
  }

  onExit(): void {
    this.#libc.close(this.#slave);
    this.#reaped = true;
    this.#failWhenOver();
  }

  /** A master takes bytes even when nobody holds the other side: it does not tell by itself that it is over. */
  #failWhenOver(): void {
    if (this.#reaped && this.#readToEnd) this.#target.fail(EIO);
  }
}

class PtyInput implements InputTarget {
  constructor(
    private readonly libc: Libc,
    private readonly target: DescriptorTarget,
    private readonly source: DescriptorSource,
  ) {}

  write(bytes: Uint8Array): Promise<void> {
    const written = this.target.write(bytes);
    // The echo is mostly there before the answer to the write is on its way, and then leaves together with it.
    this.source.lookSoon();
    return written;
  }

  endMark(): Uint8Array {
    return Uint8Array.of(this.target.use((fd) => readEofCharacter(this.libc, fd)));
  }

  close(): void {}
}

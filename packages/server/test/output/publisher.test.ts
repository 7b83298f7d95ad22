import { describe, expect, it } from 'vitest';
import type { OutputSource } from '../../src/native/launch.js';
import type { OutputSink } from '../../src/output/output-sink.js';
import { Publisher } from '../../src/output/publisher.js';
import { RetainedChunk } from '../../src/output/retained-chunk.js';
import { describeExit } from '../../src/process/process-exit.js';

class FakeSource implements OutputSource {
  readonly stream = 'stdout';
  paused = false;
  start(): void {}
  pause(): void {
    this.paused = true;
  }
  resume(): void {
    this.paused = false;
  }
  destroy(): void {}
}

class FakeSink implements OutputSink {
  readonly events: string[] = [];
  writable = true;
  #wake: (() => void)[] = [];
  output({ seq }: { seq: number }): void {
    this.events.push(`output ${seq}`);
  }
  exited(seq: number): void {
    this.events.push(`exited ${seq}`);
  }
  closed(seq: number): void {
    this.events.push(`closed ${seq}`);
  }
  whenWritable(): Promise<void> {
    return this.writable ? Promise.resolve() : new Promise((resolve) => this.#wake.push(resolve));
  }
  async catchUp(): Promise<void> {
    this.writable = true;
    for (const wake of this.#wake.splice(0)) wake();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const chunk = (seq: number) => new RetainedChunk(seq, 'stdout', Buffer.from('x'));

function open() {
  const source = new FakeSource();
  return { source, publisher: new Publisher([source]) };
}

it('tells every reader everything, from when it came until it left', () => {
  const { publisher } = open();
  const [early, late] = [new FakeSink(), new FakeSink()];
  const leave = publisher.attach(early, { holdsBack: true });
  publisher.output(chunk(1));
  publisher.attach(late, { holdsBack: false });
  publisher.output(chunk(2));
  leave();
  publisher.exited(3, describeExit({ kind: 'exited', code: 0 }, { timedOut: false, sandboxDenied: false }));
  publisher.closed(4);
  expect(early.events).toEqual(['output 1', 'output 2']);
  expect(late.events).toEqual(['output 2', 'exited 3', 'closed 4']);
});

describe('a reader that holds back', () => {
  it('stops the sources while it is behind', async () => {
    const { publisher, source } = open();
    const sink = new FakeSink();
    publisher.attach(sink, { holdsBack: true });
    sink.writable = false;
    publisher.output(chunk(1));
    expect(source.paused).toBe(true);
    await sink.catchUp();
    expect(source.paused).toBe(false);
  });

  it('stops them at once when it comes behind already', () => {
    const { publisher, source } = open();
    const sink = new FakeSink();
    sink.writable = false;
    publisher.attach(sink, { holdsBack: true });
    expect(source.paused).toBe(true);
  });

  it('lets them go when it leaves, unless another is behind too', async () => {
    const { publisher, source } = open();
    const [first, second] = [new FakeSink(), new FakeSink()];
    const leave = publisher.attach(first, { holdsBack: true });
    publisher.attach(second, { holdsBack: true });
    first.writable = false;
    second.writable = false;
    publisher.output(chunk(1));
    leave();
    expect(source.paused).toBe(true);
    await second.catchUp();
    expect(source.paused).toBe(false);
  });
});

it('a reader that does not hold back stops nobody', () => {
  const { publisher, source } = open();
  const sink = new FakeSink();
  sink.writable = false;
  publisher.attach(sink, { holdsBack: false });
  publisher.output(chunk(1));
  expect(source.paused).toBe(false);
});

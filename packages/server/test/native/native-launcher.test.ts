import { closeSync, openSync, readlinkSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { duplicateDescriptor } from '../../src/native/descriptors.js';
import { loadLibc } from '../../src/native/libc.js';
import { NativeLauncher } from '../../src/native/native-launcher.js';
import { silentLogger } from '../../src/telemetry/logger.js';
import { countDescriptors, PIPES, PIPES_WITH_STDIN, PTY, planOf, run, shell } from './launch-helper.js';

describe('native launcher', () => {
  let launcher: NativeLauncher;

  beforeAll(() => {
    launcher = new NativeLauncher({ guardian: false, cgroups: true, logger: silentLogger });
  });

  afterAll(() => launcher.close());

  it('gives real pipes, which a child can open again', async () => {
    const script = 'cat /dev/stdin | tee /dev/stdout; echo x > /dev/stderr';
    const child = run(launcher, shell(script, { stdio: PIPES_WITH_STDIN }));
    await child.child.input!.write(Buffer.from('in\n'));
    child.child.input!.close();
    expect(await child.done).toEqual({ kind: 'exited', code: 0 });
    expect(child.text('stdout')).toBe('in\nin\n');
    expect(child.text('stderr')).toBe('x\n');
  });

  it('answers to what is written come at once, however busy the output was before', async () => {
    // No rest of a busy pipe ends by itself here.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const chatter = 'i=0; while [ $i -lt 2500 ]; do echo $i; i=$((i+1)); done; echo ready >&2';
    const script = `${chatter}; read line; echo "got $line"; read line`;
    const child = run(launcher, shell(script, { stdio: PIPES_WITH_STDIN }));
    await child.waitFor(/ready/);
    await child.child.input!.write(Buffer.from('this\n'));
    await child.waitFor(/got this/);
    child.child.input!.close();
    expect(await child.done).toEqual({ kind: 'exited', code: 1 });
  });

  it.each([
    ['pipes', PIPES],
    ['a pty', PTY],
  ])('lets a child on %s inherit nothing but its standard streams', async (_, stdio) => {
    const held = run(launcher, planOf('/bin/cat', [], { stdio: PTY }));
    const child = run(launcher, planOf('/bin/ls', ['/proc/self/fd'], { stdio }));
    await child.done;
    // The fourth one is the listing itself.
    expect(child.text().trim().split(/\s+/)).toEqual(['0', '1', '2', '3']);
    held.child.signalGroup(9);
    await held.done;
  });

  it('gives extra descriptors under their numbers, also when those cross over', async () => {
    const libc = loadLibc();
    const first = openSync('/dev/null', 'r');
    const second = openSync('/dev/zero', 'r');
    const high = duplicateDescriptor(libc, first, 30);
    const before = countDescriptors();
    const child = run(
      launcher,
      planOf('/bin/ls', ['-l', '/proc/self/fd'], {
        extraDescriptors: [
          { fd: first, as: second },
          { fd: second, as: first },
          { fd: high, as: 10 },
          { fd: high, as: high },
          { fd: first, as: 100 },
        ],
      }),
    );
    expect(countDescriptors()).toBe(before + 2);
    await child.done;
    const listed = new Map(
      Array.from(child.text().matchAll(/ (\d+) -> (.*)/g), ([, fd, target]) => [fd, target]),
    );
    for (const [fd, target] of [
      [second, '/dev/null'],
      [first, '/dev/zero'],
      [10, '/dev/null'],
      [high, '/dev/null'],
      [100, '/dev/null'],
    ] as const) {
      expect(listed.get(String(fd))).toBe(target);
    }
    const expected = new Set(['0', '1', '2', String(first), String(second), '10', String(high), '100']);
    const strangers = [...listed].filter(
      ([fd, target]) => !expected.has(fd!) && !target!.startsWith('/proc/'),
    );
    expect(strangers).toEqual([]);
    expect(readlinkSync(`/proc/self/fd/${first}`)).toBe('/dev/null');
    for (const fd of [first, second, high]) closeSync(fd);
  });

  it('throws EBADF for an extra descriptor that is not open, and leaves none behind', () => {
    const before = countDescriptors();
    const plan = shell(':', { extraDescriptors: [{ fd: 9_999, as: 3 }] });
    expect(() => launcher.launch(plan)).toThrow(expect.objectContaining({ errno: 9 }));
    expect(countDescriptors()).toBe(before);
  });

  it('hands out chunks that own no more memory than they hold', async () => {
    const child = launcher.launch(planOf('/bin/echo', ['hi']));
    const chunks: Buffer[] = [];
    await new Promise<void>((resolve) => child.outputs[0]!.start((chunk) => chunks.push(chunk), resolve));
    child.outputs[1]!.destroy();
    await child.exit;
    expect(chunks.map(({ buffer }) => buffer.byteLength)).toEqual([3]);
  });

  it('collects what is ready into few chunks', async () => {
    // 64 KiB in 16,384 writes fit into one pipe buffer only if nobody reads: the reader starts after the exit.
    const child = launcher.launch(
      planOf('/usr/bin/dd', ['if=/dev/zero', 'bs=4096', 'count=16', 'status=none']),
    );
    await child.exit;
    const lengths: number[] = [];
    await new Promise<void>((resolve) =>
      child.outputs[0]!.start((chunk) => lengths.push(chunk.length), resolve),
    );
    child.outputs[1]!.destroy();
    expect(lengths).toEqual([65_536]);
  });

  it('works beside another launcher and beside children of Node', async () => {
    const other = new NativeLauncher({ guardian: false, cgroups: true, logger: silentLogger });
    const { execFile } = await import('node:child_process');
    const foreign = Array.from(
      { length: 20 },
      () =>
        new Promise<void>((resolve, reject) => {
          execFile('/bin/true', (error) => (error === null ? resolve() : reject(error)));
        }),
    );
    const ours = Array.from(
      { length: 20 },
      (_, index) => run(index % 2 === 0 ? launcher : other, shell(`exit ${index}`)).done,
    );
    expect(await Promise.all(ours)).toEqual(ours.map((_, code) => ({ kind: 'exited', code })));
    await Promise.all(foreign);
    await other.close();
    expect(process.listenerCount('SIGCHLD')).toBe(0);
  });
});

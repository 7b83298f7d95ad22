import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { nativeToPathUri, type SandboxContext } from '@exec-server/protocol';
import {
  type InProcessWire,
  openInProcessWire,
  openWire,
  startServer,
  waitForProcessGone,
} from '@exec-server/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import type { ExecServer } from '../../../src/index.js';
import {
  HELPER_IDLE_MS,
  MAX_HELPERS,
  TRACED_HELPER_IDLE_MS,
} from '../../../src/sandbox/files/file-sandboxes.js';
import { FakeClock } from '../../support/fake-clock.js';
import { findFileHelpers } from '../../support/file-helpers.js';
import { READ_ROOT, requireSandbox, rule, sandboxOf } from '../../support/sandbox.js';
import { SERVER_USERS } from '../../support/server-users.js';
import { openServer, openSession } from '../../support/session.js';
import { makeTempDirectory } from '../../support/temp-directory.js';

beforeEach(requireSandbox);

/** Helpers of a principal while nobody else has any. */
const SHARE = MAX_HELPERS / 2;

const GONE = { code: -32603, message: 'the file system sandbox ended unexpectedly' };

async function openSandbox(clock?: FakeClock) {
  const directory = await makeTempDirectory();
  const server = openServer(clock === undefined ? {} : { clock });
  const wire = await openSession(server);
  const at = (name: string) => join(directory, name);
  writeFileSync(at('file'), 'hello');
  const sandbox = sandboxOf([rule(directory, 'read')]);
  return { server, wire, directory, at, sandbox };
}

/** A connection of somebody. */
async function openSessionOf(server: ExecServer, subject: string): Promise<InProcessWire> {
  const wire = openInProcessWire(server, { principal: { kind: 'custom', subject } });
  await wire.request('initialize', { clientName: 'test' });
  wire.send({ method: 'initialized' });
  return wire;
}

const read = (wire: Pick<InProcessWire, 'request'>, path: string, sandbox: SandboxContext) =>
  wire.request('fs/readFile', { path: nativeToPathUri(path), sandbox });

/** The one helper that runs. */
function theHelper(): number {
  const [pid, ...others] = findFileHelpers();
  expect(others).toEqual([]);
  return pid!;
}

describe('helpers', () => {
  it('stay for everybody with the same principal and policy, and end with the server', async () => {
    const { server, wire, at, sandbox } = await openSandbox();
    expect((await read(wire, at('file'), sandbox)).result).toEqual({ dataBase64: 'aGVsbG8=' });
    const pid = theHelper();
    const other = await openSession(server);
    await Promise.all(Array.from({ length: 20 }, () => read(other, at('file'), { ...sandbox })));
    expect(theHelper()).toBe(pid);
    await server.close();
    await waitForProcessGone(pid);
  });

  it('one that is killed fails the calls that it works on, and the next call works', async () => {
    const { wire, at, sandbox } = await openSandbox();
    const path = nativeToPathUri(at('file'));
    await wire.request('fs/open', { handleId: 'open', path, sandbox });
    const pid = theHelper();
    // Stopped, so that it is sure to have something to work on when it is killed. What is open is read without a pause.
    process.kill(pid, 'SIGSTOP');
    const readBlock = () => wire.request('fs/readBlock', { handleId: 'open', offset: 0, len: 5 });
    const calls = [readBlock(), readBlock()];
    await wire.request('environment/status', {});
    process.kill(pid, 'SIGKILL');
    for (const call of calls) expect((await call).error).toMatchObject(GONE);
    expect((await read(wire, at('file'), sandbox)).result).toEqual({ dataBase64: 'aGVsbG8=' });
    expect(theHelper()).not.toBe(pid);
  });

  it('do not tell what they read when a mount went meanwhile that was to hide it', async () => {
    const { wire, directory, at } = await openSandbox();
    writeFileSync(at('denied'), 'old');
    const sandbox = sandboxOf([rule(directory, 'read'), rule(at('denied'), 'deny')]);
    await read(wire, at('file'), sandbox);
    const pid = theHelper();
    process.kill(pid, 'SIGSTOP');
    const call = read(wire, at('denied'), sandbox);
    // By then the helper has been chosen and told.
    for (let turns = 0; turns < 20; turns++) await wire.request('environment/status', {});
    writeFileSync(at('new'), 'secret');
    renameSync(at('new'), at('denied'));
    process.kill(pid, 'SIGCONT');
    expect((await call).error).toMatchObject({ code: -32600, message: 'Permission denied (os error 13)' });
    await waitForProcessGone(pid);
  });

  it('end when they are idle, and sooner when they leave something on disk', async () => {
    const clock = new FakeClock();
    const { wire, directory, at, sandbox } = await openSandbox(clock);
    await read(wire, at('file'), sandbox);
    const reader = theHelper();
    const writable = sandboxOf([rule(directory, 'write')]);
    await wire.request('fs/createDirectory', { path: nativeToPathUri(at('d')), sandbox: writable });
    const [writer] = findFileHelpers().filter((pid) => pid !== reader);
    expect(existsSync(at('.git'))).toBe(true);
    clock.advance(TRACED_HELPER_IDLE_MS - 1);
    expect(findFileHelpers()).toContain(writer);
    clock.advance(1);
    await waitForProcessGone(writer!);
    clock.advance(HELPER_IDLE_MS - TRACED_HELPER_IDLE_MS - 1);
    expect(theHelper()).toBe(reader);
    clock.advance(1);
    await waitForProcessGone(reader);
    expect((await read(wire, at('file'), sandbox)).error).toBeUndefined();
  });

  it('are at most sixteen for one principal: the one that is idle for longest goes, one with an open file stays', async () => {
    const { wire, at } = await openSandbox();
    const sandboxes = Array.from({ length: SHARE + 1 }, (_, index) => {
      mkdirSync(at(`d${index}`));
      writeFileSync(at(`d${index}/f`), '');
      return { path: at(`d${index}/f`), sandbox: sandboxOf([rule(at(`d${index}`), 'read')]) };
    });
    const open = (index: number) => {
      const { path, sandbox } = sandboxes[index]!;
      return wire.request('fs/open', { handleId: `${index}`, path: nativeToPathUri(path), sandbox });
    };
    expect((await open(0)).error).toBeUndefined();
    // In the order of their starts, which their numbers need not have.
    const before = [theHelper()];
    for (const { path, sandbox } of sandboxes.slice(1, SHARE)) {
      await read(wire, path, sandbox);
      before.push(...findFileHelpers().filter((pid) => !before.includes(pid)));
    }
    expect(before).toHaveLength(SHARE);
    await read(wire, sandboxes[SHARE]!.path, sandboxes[SHARE]!.sandbox);
    const [, gone] = before;
    await waitForProcessGone(gone!);
    expect((await wire.request('fs/readBlock', { handleId: '0', offset: 0, len: 1 })).result).toEqual({
      chunk: '',
      eof: true,
    });
    // With a file open in each of them there is no room for another.
    for (let index = 1; index < SHARE; index++) expect((await open(index)).error).toBeUndefined();
    expect((await open(SHARE)).error).toMatchObject({
      code: -32603,
      message: expect.stringMatching(
        `^at most ${SHARE} file system sandboxes .* while others use 0 of ${MAX_HELPERS};`,
      ),
    });
    await wire.request('fs/close', { handleId: '3' });
    expect((await open(SHARE)).error).toBeUndefined();
  });
});

describe('principals', () => {
  it('do not see what others have open under the same policy', async () => {
    const { server, directory, at } = await openSandbox();
    mkdirSync(at('denied'));
    const sandbox = sandboxOf([READ_ROOT, rule(at('denied'), 'deny')]);
    const [alice, bob] = [await openSessionOf(server, 'alice'), await openSessionOf(server, 'bob')];
    for (const name of ['deleted', 'moved']) {
      writeFileSync(at(name), 'of alice');
      const path = nativeToPathUri(at(name));
      expect((await alice.request('fs/open', { handleId: name, path, sandbox })).error).toBeUndefined();
    }
    unlinkSync(at('deleted'));
    renameSync(at('moved'), at('denied/moved'));
    const seenBy = async (wire: InProcessWire) => {
      const seen: string[] = [];
      for (let fd = 0; fd < 64; fd++) {
        const path = nativeToPathUri(`/proc/self/fd/${fd}`);
        const { result } = await wire.request('fs/readLink', { path, sandbox });
        if (!String(result?.target).startsWith(directory)) continue;
        const { result: content } = await read(wire, `/proc/self/fd/${fd}`, sandbox);
        seen.push(Buffer.from(String(content?.dataBase64), 'base64').toString());
      }
      return seen;
    };
    // The way is one, as long as it is one's own.
    expect(await seenBy(alice)).toContain('of alice');
    expect(await seenBy(bob)).toEqual([]);
  });

  it('leave something to others, whatever they hold on to', async () => {
    const { server, at } = await openSandbox();
    const path = nativeToPathUri(at('file'));
    let policies = 0;
    /** Opens files, each in a helper of its own, until it is refused. */
    const openAll = async (wire: InProcessWire) => {
      for (let count = 0; ; count++) {
        const sandbox = sandboxOf([READ_ROOT, rule(at(`no-${++policies}`), 'deny')]);
        const { error } = await wire.request('fs/open', { handleId: `${count}`, path, sandbox });
        if (error !== undefined) return count;
      }
    };
    const opened: number[] = [];
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    const wires: InProcessWire[] = [];
    for (const name of names) {
      const wire = await openSessionOf(server, name);
      wires.push(wire);
      expect((await read(wire, at('file'), sandboxOf([READ_ROOT]))).error).toBeUndefined();
      opened.push(await openAll(wire));
    }
    expect(opened).toEqual([16, 8, 4, 2, 1, 1]);
    const late = await openSessionOf(server, 'late');
    const sandbox = sandboxOf([READ_ROOT]);
    expect((await read(late, at('file'), sandbox)).error).toMatchObject({ code: -32603 });
    await wires[0]!.request('fs/close', { handleId: '0' });
    expect((await read(late, at('file'), sandbox)).error).toBeUndefined();
  });

  it('lose helpers that are idle to others', async () => {
    const { server, at } = await openSandbox();
    const wires = [await openSessionOf(server, 'a'), await openSessionOf(server, 'b')];
    expect(
      (await read(wires[0]!, at('file'), sandboxOf([rule(at('no-0'), 'deny'), READ_ROOT]))).error,
    ).toBeUndefined();
    const oldest = theHelper();
    for (const wire of wires)
      for (let index = 0; index < SHARE; index++) {
        const sandbox = sandboxOf([READ_ROOT, rule(at(`no-${index}`), 'deny')]);
        expect((await read(wire, at('file'), sandbox)).error).toBeUndefined();
      }
    expect(findFileHelpers()).toHaveLength(MAX_HELPERS);
    const late = await openSessionOf(server, 'late');
    expect((await read(late, at('file'), sandboxOf([READ_ROOT]))).error).toBeUndefined();
    await waitForProcessGone(oldest);
    expect(findFileHelpers()).toHaveLength(MAX_HELPERS);
  });
});

describe('an open file', () => {
  it('is the same file when its sandbox is stale and its path another file', async () => {
    const { wire, directory, at } = await openSandbox();
    writeFileSync(at('denied'), '');
    const sandbox = sandboxOf([rule(directory, 'read'), rule(at('denied'), 'deny')]);
    await wire.request('fs/open', { handleId: 'h', path: nativeToPathUri(at('file')), sandbox });
    const stale = theHelper();
    writeFileSync(at('new'), 'other');
    renameSync(at('new'), at('file'));
    renameSync(at('denied'), at('moved'));
    writeFileSync(at('denied'), '');
    expect(
      Buffer.from(String((await read(wire, at('file'), sandbox)).result?.dataBase64), 'base64').toString(),
    ).toBe('other');
    expect(findFileHelpers()).toHaveLength(2);
    const { result } = await wire.request('fs/readBlock', { handleId: 'h', offset: 1, len: 100 });
    expect(result).toEqual({ chunk: Buffer.from('ello').toString('base64'), eof: true });
    await wire.request('fs/close', { handleId: 'h' });
    await waitForProcessGone(stale);
  });

  it('is written in blocks, and closed with its connection', async () => {
    const { server, directory, at } = await openSandbox();
    const wire = await openSession(server);
    const sandbox = sandboxOf([READ_ROOT, rule(directory, 'write')]);
    const path = nativeToPathUri(at('out'));
    await wire.request('fs/open', { handleId: 'w', path, mode: 'replace', sandbox });
    const chunk = Buffer.from('abc').toString('base64');
    for (const offset of [0, 5])
      expect((await wire.request('fs/writeBlock', { handleId: 'w', offset, chunk })).result).toEqual({});
    expect(readFileSync(at('out'), 'latin1')).toBe('abc\0\0abc');
    const unreadable = await wire.request('fs/readBlock', { handleId: 'w', offset: 0, len: 1 });
    expect(unreadable.error).toMatchObject({ code: -32603, message: 'Bad file descriptor (os error 9)' });
    expect((await wire.request('fs/writeBlock', { handleId: 'w', offset: 0, chunk })).error?.code).toBe(
      -32004,
    );
  });

  it('is gone with its helper', async () => {
    const { wire, at, sandbox } = await openSandbox();
    await wire.request('fs/open', { handleId: 'h', path: nativeToPathUri(at('file')), sandbox });
    process.kill(theHelper(), 'SIGKILL');
    const block = { handleId: 'h', offset: 0, len: 1 };
    expect((await wire.request('fs/readBlock', block)).error).toMatchObject(GONE);
    expect((await wire.request('fs/readBlock', block)).error?.code).toBe(-32004);
    expect(
      (await wire.request('fs/open', { handleId: 'h', path: nativeToPathUri(at('file')), sandbox })).error,
    ).toBeUndefined();
  });
});

it('large files pass through a helper', async () => {
  const { wire, at, sandbox } = await openSandbox();
  const content = Buffer.alloc(20 * 1024 * 1024 + 1, 'exec-server');
  writeFileSync(at('large'), content);
  const { result } = await read(wire, at('large'), sandbox);
  expect(Buffer.from(String(result?.dataBase64), 'base64').equals(content)).toBe(true);
});

it('a server that is killed leaves no helper behind', async () => {
  const directory = await makeTempDirectory();
  chmodSync(directory, 0o755);
  const server = await startServer({ command: SERVER_USERS['this user'] });
  const wire = await openWire(server.url);
  await wire.request('initialize', { clientName: 'test' });
  wire.send({ method: 'initialized' });
  const sandbox = sandboxOf([rule(directory, 'read')]);
  await wire.request('fs/readDirectory', { path: nativeToPathUri(directory), sandbox });
  const helpers = findFileHelpers(server.pid);
  expect(helpers).toHaveLength(1);
  server.kill('SIGKILL');
  await server.exited;
  for (const pid of helpers) await waitForProcessGone(pid);
});

import { appendFileSync, readdirSync, readFileSync, readlinkSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MAX_OPEN_FILE_HANDLES, nativeToPathUri } from '@exec-server/protocol';
import type { ExecServerOptions } from '@exec-server/server';
import { describe, expect, it, vi } from 'vitest';
import { FakeClock } from '../../support/fake-clock.js';
import { openServer, openSession } from '../../support/session.js';
import { makeTempDirectory } from '../../support/temp-directory.js';

async function openHandles(options: ExecServerOptions = {}) {
  const directory = await makeTempDirectory();
  const server = openServer(options);
  const at = (name: string) => join(directory, name);
  const connect = async (resumeSessionId?: string) => {
    const wire = await openSession(server, resumeSessionId);
    const ask = async (method: string, params: object) => {
      const { result, error } = await wire.request(method, params);
      return error ?? result;
    };
    return {
      wire,
      open: (handleId: string, name: string, more: object = {}) =>
        ask('fs/open', { handleId, path: nativeToPathUri(at(name)), ...more }),
      read: (handleId: string) => ask('fs/readBlock', { handleId, offset: 0, len: 100 }),
      write: (handleId: string, offset: number, text: string) =>
        ask('fs/writeBlock', { handleId, offset, chunk: btoa(text) }),
      close: (handleId: string) => ask('fs/close', { handleId }),
    };
  };
  return { at, directory, connect };
}

const unknown = (handleId: string) => ({ code: -32004, message: `unknown file handle \`${handleId}\`` });
const refused = (message: string) => ({ code: -32600, message });
const KEPT = { keep: true };

/** Files below a directory that this process, and so the server in it, has open. */
function openBelow(directory: string): string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${fd}`);
      return path.startsWith(directory) ? [path] : [];
    } catch {
      return [];
    }
  });
}

describe('a handle that is kept', () => {
  it('is there on the next connection of its session, and others are not', async () => {
    const { at, connect } = await openHandles();
    const first = await connect();
    await first.open('kept', 'f', { mode: 'replace', ...KEPT });
    await first.open('own', 'f');
    await first.write('kept', 0, 'one ');
    await first.wire.close();
    const second = await connect(first.wire.sessionId);
    expect(await second.read('own')).toMatchObject(unknown('own'));
    expect(await second.write('kept', 4, 'two')).toEqual({});
    expect(await second.close('kept')).toEqual({});
    expect(await second.write('kept', 0, 'x')).toMatchObject(unknown('kept'));
    expect(readFileSync(at('f'), 'utf8')).toBe('one two');
  });

  it('is nothing to another session', async () => {
    const { connect } = await openHandles();
    await (await connect()).open('kept', 'f', { mode: 'replace', ...KEPT });
    expect(await (await connect()).write('kept', 0, 'x')).toMatchObject(unknown('kept'));
  });

  it('is closed with its session', async () => {
    const clock = new FakeClock();
    const { at, directory, connect } = await openHandles({ clock });
    const first = await connect();
    await first.open('kept', 'f', { mode: 'replace', ...KEPT });
    await first.wire.close();
    expect(openBelow(directory)).toEqual([at('f')]);
    clock.advance(29_999);
    expect(openBelow(directory)).toEqual([at('f')]);
    clock.advance(1);
    await vi.waitUntil(() => openBelow(directory).length === 0);
  });

  it('has an id that no other handle has', async () => {
    const { at, connect } = await openHandles();
    writeFileSync(at('f'), 'content');
    const { open, read } = await connect();
    await open('kept', 'f', KEPT);
    await open('own', 'f');
    expect(await open('kept', 'f', { mode: 'replace' })).toMatchObject(
      refused('file handle `kept` already exists'),
    );
    expect(await open('own', 'f', { mode: 'replace', ...KEPT })).toMatchObject(
      refused('file handle `own` already exists'),
    );
    expect(await read('kept')).toEqual({ chunk: btoa('content'), eof: true });
    expect(await read('own')).toEqual({ chunk: btoa('content'), eof: true });
  });

  it(`is one of at most ${MAX_OPEN_FILE_HANDLES} of its session`, async () => {
    const { at, connect } = await openHandles();
    writeFileSync(at('f'), '');
    const first = await connect();
    for (let count = 1; count <= MAX_OPEN_FILE_HANDLES; count++)
      expect(await first.open(`h${count}`, 'f', KEPT)).toEqual({ handleId: `h${count}` });
    await first.wire.close();
    const { open, close } = await connect(first.wire.sessionId);
    const beyond = refused(`at most ${MAX_OPEN_FILE_HANDLES} file handles may be open per session`);
    expect(await open('one more', 'f', KEPT)).toMatchObject(beyond);
    expect(await open('of its own', 'f')).toEqual({ handleId: 'of its own' });
    await close('h1');
    expect(await open('one more', 'f', KEPT)).toEqual({ handleId: 'one more' });
  });

  it('is an ordinary one on a server without the capability', async () => {
    const { connect } = await openHandles({ disabledCapabilities: ['fsResumableStreams'] });
    const first = await connect();
    expect(await first.open('h', 'f', { mode: 'replace', identify: true, ...KEPT })).toEqual({
      handleId: 'h',
    });
    await first.wire.close();
    const second = await connect(first.wire.sessionId);
    expect(await second.write('h', 0, 'x')).toMatchObject(unknown('h'));
  });
});

describe('the identity of a file', () => {
  it('stays until the file is another one or has changed', async () => {
    const { at, connect } = await openHandles();
    writeFileSync(at('f'), 'content');
    writeFileSync(at('g'), 'content');
    const { open } = await connect();
    let count = 0;
    const identify = async () =>
      (await open(`h${count++}`, 'f', { identify: true })) as unknown as { identity: string };
    const { identity } = await identify();
    expect((await identify()).identity).toBe(identity);
    appendFileSync(at('f'), 'x');
    const changed = (await identify()).identity;
    expect(changed).not.toBe(identity);
    renameSync(at('g'), at('f'));
    expect([identity, changed]).not.toContain((await identify()).identity);
  });
});

import { expect, it, onTestFinished } from 'vitest';
import { createFileSystem } from '../../src/fs/create-file-system.js';
import { ExecServerClient } from '../../src/low-level/exec-server-client.js';
import { failureOf } from '../support/files.js';
import { scriptServer } from '../support/scripted-server.js';

/** The files of a server that lists one name, whatever it is asked. */
function listing(fileName: string) {
  const server = scriptServer(({ id, method }, { send }) => {
    if (method === 'initialize') send({ id, result: { sessionId: 's' } });
    if (method !== 'fs/readDirectory') return;
    send({ id, result: { entries: [{ fileName, isDirectory: false, isFile: true }] } });
  });
  const client = new ExecServerClient(server.transport);
  onTestFinished(() => client.close());
  return createFileSystem(client);
}

it.each(['', '.', '..', '../x', 'a/b', '/etc/passwd', 'a\0b'])(
  'a server that lists %j as a name is not believed',
  async (name) => {
    expect(await failureOf(listing(name).readdir('/d'))).toMatchObject({ code: 'protocol' });
    expect(await failureOf(listing(name).walk('/d').next())).toMatchObject({ code: 'protocol' });
  },
);

it.each(['...', '..x', '-', ' ', 'a\\b', 'a\nb'])('%j is a name', async (name) => {
  expect(await listing(name).readdir('/d')).toEqual([name]);
});

import { join } from 'node:path';
import { expect, it } from 'vitest';
import { listInstalledPlugins } from '../../src/capabilities/plugin-cache.js';
import { addFiles, makeFileTree } from '../support/file-tree.js';

const MOST_PLUGINS = 512;
const MOST_NOTE_BYTES = 16 * 1024;
const MOST_ID_BYTES = 1024;
const NOTE = '.codex-remote-plugin-install.json';

it('lists so many plugins, and says when there are more', async () => {
  const root = await makeFileTree({});
  const add = (index: number) => addFiles(root, { [`mk/p${index}/1/x`]: '' });
  for (let index = 1; index < MOST_PLUGINS; index++) await add(index);
  const seen: [number, boolean][] = [];
  for (const index of [MOST_PLUGINS, MOST_PLUGINS + 1, MOST_PLUGINS + 2]) {
    const { plugins, complete } = await listInstalledPlugins(root);
    seen.push([plugins.length, complete]);
    await add(index);
  }
  expect(seen).toEqual([
    [MOST_PLUGINS - 1, true],
    [MOST_PLUGINS, true],
    [MOST_PLUGINS, false],
  ]);
});

it.each([
  [MOST_NOTE_BYTES - 1, 'id'],
  [MOST_NOTE_BYTES, 'id'],
  [MOST_NOTE_BYTES + 1, undefined],
])('reads a note of %i bytes about where a plugin is from', async (bytes, remoteId) => {
  const root = await makeFileTree({
    'mk/p/1/x': '',
    [join('mk/p', NOTE)]: JSON.stringify({ remote_plugin_id: 'id' }).padEnd(bytes),
  });
  const { plugins, complete } = await listInstalledPlugins(root);
  expect([plugins[0]?.remoteId, complete]).toEqual([remoteId, remoteId !== undefined]);
});

it.each([
  [MOST_ID_BYTES - 1, true],
  [MOST_ID_BYTES, true],
  [MOST_ID_BYTES + 1, false],
])('takes an id of %i bytes from it: %s', async (bytes, taken) => {
  const id = 'x'.repeat(bytes);
  const root = await makeFileTree({
    'mk/p/1/x': '',
    [join('mk/p', NOTE)]: JSON.stringify({ remote_plugin_id: id }),
  });
  expect((await listInstalledPlugins(root)).plugins[0]?.remoteId).toBe(taken ? id : undefined);
});

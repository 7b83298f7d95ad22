import { describe, expect, it } from 'vitest';
import { selectKeys, selectsAnything } from '../../../src/environment/config/select-keys.js';

const table = {
  model: 'm',
  servers: { a: { url: 'u', env: { X: '1' } }, b: { url: 'v' } },
  list: [{ x: 1n }],
};
const select = (...paths: string[][]) => ({ ...selectKeys(table, paths) });

describe('selected keys', () => {
  it.each([
    [[['model']], { model: 'm' }],
    [[['servers', 'a', 'url']], { servers: { a: { url: 'u' } } }],
    [[['servers', 'a', 'url'], ['servers']], { servers: table.servers }],
    [
      [
        ['servers', 'a', 'url'],
        ['servers', 'b'],
      ],
      { servers: { a: { url: 'u' }, b: { url: 'v' } } },
    ],
    // A path that ends early ends at the value that it would be read from.
    [[['model', 'deeper']], { model: 'm' }],
    [[['list', '0', 'x']], { list: table.list }],
    [[['servers', 'missing']], { servers: {} }],
    [[['missing']], {}],
    [[['toString']], {}],
    [[['']], {}],
  ])('%j', (paths, expected) => {
    expect(JSON.stringify(select(...paths), bigints)).toBe(JSON.stringify(expected, bigints));
    expect(selectsAnything(table, paths)).toBe(Object.keys(expected).length > 0);
  });
});

function bigints(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? Number(value) : value;
}

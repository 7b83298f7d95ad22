import { expect, it } from 'vitest';
import { MAX_LOOKUPS, MAX_WAITING_LOOKUPS, NameResolver } from '../../src/network-proxy/name-resolver.js';

it('takes addresses for what they are', async () => {
  const resolver = new NameResolver(() => Promise.reject(new Error('asked')));
  expect(await resolver.resolve('127.0.0.1')).toEqual(['127.0.0.1']);
  expect(await resolver.resolve('::1')).toEqual(['::1']);
});

it('asks the system for names', async () => {
  const found = await new NameResolver().resolve('localhost');
  expect(found.every((address) => ['127.0.0.1', '::1'].includes(address))).toBe(true);
  expect(found).not.toEqual([]);
});

it('a name that cannot be found has no addresses', async () => {
  expect(await new NameResolver(() => Promise.reject(new Error('ENOTFOUND'))).resolve('a.com')).toEqual([]);
});

it('looks up a few at a time, lets some wait and gives up on the rest', async () => {
  const pending: (() => void)[] = [];
  const resolver = new NameResolver((name) => new Promise((resolve) => pending.push(() => resolve([name]))));
  const names = Array.from({ length: MAX_LOOKUPS + MAX_WAITING_LOOKUPS }, (_, index) => `${index}.example`);
  const found = names.map((name) => resolver.resolve(name));
  expect(pending).toHaveLength(MAX_LOOKUPS);
  expect(await resolver.resolve('too.many')).toEqual([]);
  for (const [index, name] of names.entries()) {
    pending[index]?.();
    expect(await found[index]).toEqual([name]);
  }
});

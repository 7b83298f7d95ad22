import { expect, test } from 'vitest';
import { ItemIds } from '../../src/rows/item-ids.js';

const idsOf = (values: readonly string[]) => {
  const ids = new ItemIds('id');
  return values.map((id) => ids.next({ id }));
};

test('items are named by the id column, repeats by a number that is free', () => {
  const names = idsOf(['foo', 'foo', 'foo-2', 'foo', ' ', 'row-5', '']);
  expect(names.map(({ itemId }) => itemId)).toEqual([
    'foo',
    'foo-2',
    'foo-2-2',
    'foo-3',
    'row-5',
    'row-5-2',
    'row-7',
  ]);
  expect(names.map(({ sourceId }) => sourceId)).toEqual([
    'foo',
    'foo',
    'foo-2',
    'foo',
    undefined,
    'row-5',
    undefined,
  ]);
});

test('without an id column items are numbered from 1', () => {
  const ids = new ItemIds(undefined);
  expect([ids.next({ id: 'a' }), ids.next({})]).toEqual([
    { itemId: 'row-1', sourceId: undefined },
    { itemId: 'row-2', sourceId: undefined },
  ]);
});

test('many repeats of one name take time in proportion', () => {
  const ids = new ItemIds('id');
  let last = '';
  for (let count = 0; count < 100_000; count++) last = ids.next({ id: 'same' }).itemId;
  expect(last).toBe('same-100000');
});

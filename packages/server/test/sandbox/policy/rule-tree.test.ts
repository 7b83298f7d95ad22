import { expect, it } from 'vitest';
import { runInTurns } from '../../../src/loop-turn.js';
import type { PolicyEntry } from '../../../src/sandbox/policy/policy.js';
import { RuleTree, sortByPath } from '../../../src/sandbox/policy/rule-tree.js';

const COUNTS = [0, 1, 511, 512, 513, 1_025, 3_000];

const pathOf = (index: number) => Buffer.from(`/${(index * 7_919) % 97}/${(index * 104_729) % 10_007}`);

it.each(COUNTS)('of %i rules finds each by what is below it, and none beside it', async (count) => {
  const rules = Array.from(
    { length: count },
    (_, index): PolicyEntry => ({
      path: pathOf(index),
      access: index % 3 === 0 ? 'deny' : 'read',
    }),
  );
  const tree = await runInTurns(RuleTree.build(rules));
  for (const rule of rules) {
    expect(tree.get(rule.path)?.access).toBe(rule.access);
    expect(tree.find(Buffer.from(`${rule.path.toString()}/x/y`))?.path).toEqual(rule.path);
    expect(tree.find(Buffer.from(`${rule.path.toString()}-x`))).toBeUndefined();
    expect(tree.hasOpenWithin(rule.path)).toBe(rule.access !== 'deny');
  }
});

it('finds the nearest of many rules below each other', async () => {
  const depths = Array.from({ length: 1_500 }, (_, depth) => depth + 1);
  const rules = depths.map(
    (depth): PolicyEntry => ({
      path: Buffer.from('/a'.repeat(depth)),
      access: depth % 2 === 0 ? 'read' : 'write',
    }),
  );
  const tree = await runInTurns(RuleTree.build(rules));
  for (const depth of depths)
    expect(tree.find(Buffer.from(`${'/a'.repeat(depth)}/b`))?.path.length).toBe(2 * depth);
});

it.each(COUNTS)('sorts %i things, those of one path as they came', async (count) => {
  const things = Array.from({ length: count }, (_, index) => ({ path: pathOf(index % 700), index }));
  const sorted = await runInTurns(sortByPath(things));
  expect(sorted).toHaveLength(count);
  for (const [at, { path, index }] of sorted.entries()) {
    const before = sorted[at - 1];
    if (before?.path.equals(path)) expect(before.index).toBeLessThan(index);
  }
});

it('takes a name with a NUL for another one', async () => {
  const rules: PolicyEntry[] = [{ path: Buffer.from('/a\0b'), access: 'write' }];
  const tree = await runInTurns(RuleTree.build(rules));
  expect(tree.accessTo(Buffer.from('/a/b'))).toBe('deny');
  expect(tree.accessTo(Buffer.from('/a\0b/c'))).toBe('write');
});

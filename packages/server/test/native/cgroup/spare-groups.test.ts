import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, rmdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { SkippableTest } from '@exec-server/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  createThreadedGroup,
  enterGroup,
  listGroups,
  removeGroup,
  setFrozen,
} from '../../../src/native/cgroup/cgroup-files.js';
import { MAX_SPARE_GROUPS, SpareGroups } from '../../../src/native/cgroup/spare-groups.js';
import { requireCgroups } from '../../support/cgroups.js';

/** Spare groups in a home of their own; `use` enters one and leaves it again. */
function openSpares(test: SkippableTest) {
  const own = requireCgroups(test);
  const home = join(own, `test-${randomUUID()}`);
  createThreadedGroup(home);
  let made = 0;
  const spares = new SpareGroups(() => join(home, String(++made)));
  onTestFinished(() => {
    spares.close();
    removeGroup(home);
  });
  const use = () => {
    try {
      return spares.enter();
    } finally {
      enterGroup(own);
    }
  };
  return { own, home, spares, use };
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

describe('spare cgroups', () => {
  it('are used again as soon as they are offered', (test) => {
    const { spares, use } = openSpares(test);
    const first = use();
    expect(spares.offer(first)).toBe(true);
    expect(use()).toBe(first);
    expect(use()).not.toBe(first);
  });

  it('are made ahead when there is none', async (test) => {
    const { home, use } = openSpares(test);
    use();
    expect(listGroups(home).map((path) => basename(path))).toEqual(['1']);
    await nextTurn();
    expect(listGroups(home).map((path) => basename(path))).toEqual(['1', '2']);
    expect(basename(use())).toBe('2');
  });

  it('are not made ahead after the end', async (test) => {
    const { home, spares, use } = openSpares(test);
    const first = use();
    spares.close();
    await nextTurn();
    expect(listGroups(home)).toHaveLength(1);
    expect(spares.offer(first)).toBe(false);
  });

  it(`are ${MAX_SPARE_GROUPS} at most`, (test) => {
    const { spares, use } = openSpares(test);
    const used = Array.from({ length: MAX_SPARE_GROUPS + 1 }, use);
    expect(used.map((path) => spares.offer(path))).toEqual([
      ...Array.from({ length: MAX_SPARE_GROUPS }, () => true),
      false,
    ]);
  });

  it('are none that somebody is in', (test) => {
    const { own, spares } = openSpares(test);
    const path = spares.enter();
    expect(spares.offer(path)).toBe(false);
    enterGroup(own);
    expect(spares.offer(path)).toBe(true);
  });

  it('are none that has groups below it, is frozen, or is gone', (test) => {
    const { spares, use } = openSpares(test);
    const path = use();
    mkdirSync(join(path, 'below'));
    expect(spares.offer(path)).toBe(false);
    rmdirSync(join(path, 'below'));
    setFrozen(path, true);
    expect(spares.offer(path)).toBe(false);
    setFrozen(path, false);
    expect(spares.offer(path)).toBe(true);
    rmdirSync(use());
    expect(spares.offer(path)).toBe(false);
  });

  it('are given up when they cannot be entered, and the reason is told', (test) => {
    const { spares, use } = openSpares(test);
    const path = use();
    expect(spares.offer(path)).toBe(true);
    rmdirSync(path);
    expect(() => spares.enter()).toThrow(expect.objectContaining({ code: 'ENOENT' }));
    expect(existsSync(use())).toBe(true);
  });
});

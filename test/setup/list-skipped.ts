import { relative } from 'node:path';
import type { Reporter, TestCase, TestModule } from 'vitest/node';

/** Of tests that their source itself skips, by a condition beside their name. */
const CONDITION = 'skipped by a condition in the test file';

/** Tells at the end of a run which tests were skipped, and why. */
export default class ListSkipped implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const lines = describeSkipped(modules);
    if (lines.length > 0) console.log(lines.join('\n'));
  }
}

function describeSkipped(modules: readonly TestModule[]): string[] {
  const skipped = modules.flatMap((module) => [...module.children.allTests('skipped')]);
  if (skipped.length === 0) return [];
  const byReason = [...groupBy(skipped, reasonOf)].sort(([, one], [, other]) => other.length - one.length);
  const details = byReason.flatMap(([reason, tests]) => [`  ${reason}:`, ...countByFile(tests)]);
  return ['', `${skipped.length} skipped:`, ...details, ''];
}

function reasonOf(test: TestCase): string {
  const result = test.result();
  return (result.state === 'skipped' ? result.note : undefined) ?? CONDITION;
}

function countByFile(tests: readonly TestCase[]): string[] {
  const byFile = groupBy(tests, ({ module }) => relative(process.cwd(), module.moduleId));
  return [...byFile].map(([file, { length }]) => `    ${file} (${length})`);
}

function groupBy(tests: readonly TestCase[], keyOf: (test: TestCase) => string): Map<string, TestCase[]> {
  const groups = new Map<string, TestCase[]>();
  for (const test of tests) groups.set(keyOf(test), [...(groups.get(keyOf(test)) ?? []), test]);
  return groups;
}

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { SandboxEntry } from '@exec-server/protocol';
import { beforeEach, expect, it } from 'vitest';
import { MAX_ARGUMENTS, refuseTooManyArguments } from '../../src/sandbox/bubblewrap/bubblewrap-backend.js';
import { MAX_PLANNED_RULES, planMounts } from '../../src/sandbox/bubblewrap/plan-mounts.js';
import { MAX_RULES, resolvePolicy } from '../../src/sandbox/policy/resolve-policy.js';
import { READ_ROOT, requireBackend, requireSandbox, rule, sandboxOf, special } from '../support/sandbox.js';
import { openServer, openSession, startParams, untilClosed } from '../support/session.js';
import { makeTempDirectory } from '../support/temp-directory.js';

beforeEach(requireSandbox);

/** A policy that everything may be read under, with so many rules in all. */
const manyRules = (count: number, more: readonly SandboxEntry[] = []) =>
  sandboxOf([
    READ_ROOT,
    ...more,
    ...Array.from({ length: count - 1 - more.length }, (_, index) => rule(`/no/such/${index}`, 'write')),
  ]);

it.each([
  [MAX_PLANNED_RULES - 1, true],
  [MAX_PLANNED_RULES, true],
  [MAX_PLANNED_RULES + 1, false],
])('a sandbox of %i rules can be made: %s', async (count, isMade) => {
  const { files } = await resolvePolicy(manyRules(count), { temporaryDirectories: [] });
  const planned = planMounts(files);
  if (isMade) expect(await planned).toMatchObject({ root: 'read' });
  else await expect(planned).rejects.toMatchObject({ failure: 'unenforceable' });
});

it.each([
  [MAX_ARGUMENTS - 1, true],
  [MAX_ARGUMENTS, true],
  [MAX_ARGUMENTS + 1, false],
])('a sandbox that takes %i arguments can be made: %s', (count, isMade) => {
  if (isMade) expect(() => refuseTooManyArguments(count)).not.toThrow();
  else expect(() => refuseTooManyArguments(count)).toThrow(`at most ${MAX_ARGUMENTS} arguments`);
});

it.each([
  [MAX_PLANNED_RULES + 1, `at most ${MAX_PLANNED_RULES} rules`],
  [MAX_RULES + 1, `at most ${MAX_RULES} rules`],
])('%i rules are refused with the number that would be allowed', async (count, words) => {
  const wire = await openSession(openServer());
  const sandbox = manyRules(count);
  const refusal = { code: -32602, message: expect.stringContaining(words) as string };
  const started = await wire.request('process/start', startParams('many', ['/bin/true'], { sandbox }));
  expect(started.error).toMatchObject(refusal);
  const path = 'file:///etc/hostname';
  expect((await wire.request('fs/writeFile', { path, dataBase64: '', sandbox })).error).toMatchObject(
    refusal,
  );
  expect(
    (await wire.request('fs/open', { handleId: 'x', path, mode: 'replace', sandbox })).error,
  ).toMatchObject(refusal);
});

it('a sandbox that takes more arguments than can be given is refused with their number', async (test) => {
  await requireBackend(test, 'bubblewrap');
  const directory = await makeTempDirectory();
  const names = Array.from({ length: 1_500 }, (_, index) => join(directory, `${index}`));
  for (const name of names) await mkdir(name);
  const wire = await openSession(openServer({ sandboxBackend: 'bubblewrap' }));
  const sandbox = sandboxOf([READ_ROOT, ...names.map((name) => rule(name, 'deny'))]);
  const { error } = await wire.request('process/start', startParams('many', ['/bin/true'], { sandbox }));
  expect(error).toMatchObject({
    code: -32602,
    message: expect.stringMatching(/at most 9000 arguments, and this sandbox needs 9\d{3}/) as string,
  });
});

it('a policy of very many rules that takes nothing away needs no sandbox', async () => {
  const wire = await openSession(openServer());
  // Rules for such names do not come with others.
  const rules = Array.from({ length: MAX_RULES - 1 }, (_, index) => rule(`/work/${index}/.git`, 'write'));
  const sandbox = sandboxOf([special({ kind: 'root' }, 'write'), ...rules], { network: 'enabled' });
  const started = await wire.request('process/start', startParams('open', ['/bin/true'], { sandbox }));
  expect(started.result).toMatchObject({ sandboxType: 'none' });
});

it('requests for one id are answered in their order, however long the first takes to check', async () => {
  const wire = await openSession(openServer());
  const sandbox = manyRules(MAX_PLANNED_RULES + 1);
  const [checked, taken, ended] = await Promise.all([
    wire.request('process/start', startParams('same', ['/bin/true'], { sandbox })),
    wire.request('process/start', startParams('same', ['/bin/true'])),
    wire.request('process/terminate', { processId: 'same' }),
  ]);
  expect(checked.error?.code).toBe(-32602);
  expect(taken.error).toMatchObject({ code: -32600, message: 'process same already exists' });
  expect(ended.error).toBeUndefined();
  expect((await wire.request('process/start', startParams('same', ['/bin/true']))).error).toBeUndefined();
  await untilClosed(wire, 'same');
});

it('others are answered while the rules of a request are looked at', async () => {
  const server = openServer();
  const busy = await openSession(server);
  const other = await openSession(server);
  const sandbox = manyRules(MAX_RULES);
  let answers = 0;
  let over = false;
  const started = busy
    .request('process/start', startParams('many', ['/bin/true'], { sandbox }))
    .finally(() => (over = true));
  while (!over) {
    await other.request('environment/status', {});
    await setImmediate();
    answers++;
  }
  expect((await started).error?.code).toBe(-32602);
  expect(answers).toBeGreaterThan(2);
});

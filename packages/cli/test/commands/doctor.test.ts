import { requireProgram } from '@exec-server/testing';
import { expect, it } from 'vitest';
import { listen, runCommand } from '../command-support.js';
import { FakeIo } from '../support.js';

interface Reported {
  readonly healthy: boolean;
  readonly url: string | null;
  readonly platform: string | null;
  readonly checks: readonly { name: string; status: string; finding: string; advice: string | null }[];
}

async function examine(...args: string[]) {
  const { code, stdout } = await runCommand(['doctor', '--json', ...args]);
  const report = JSON.parse(stdout) as Reported;
  return { code, report, checks: Object.fromEntries(report.checks.map((check) => [check.name, check])) };
}

it('tries what this machine offers', async () => {
  const { code, report, checks } = await examine();
  expect({ code, healthy: report.healthy, url: report.url }).toEqual({ code: 0, healthy: true, url: null });
  expect(Object.keys(checks)).toEqual([
    'node',
    'launcher',
    'cgroups',
    'processes',
    'terminals',
    'sandbox',
    'sandbox helper',
    'sandbox bubblewrap',
    'sandbox landlock',
    'limits',
    'shell',
    'operations',
  ]);
  for (const name of ['node', 'processes', 'terminals', 'operations'])
    expect(checks[name]?.status).toBe('ok');
  expect(checks.terminals?.finding).toMatch(/^\/dev\//);
  // Where something is limited, it says what to do.
  for (const { status, advice } of report.checks) expect(advice === null).toBe(status === 'ok');
});

it('tries the sandboxes that there are', async (test) => {
  requireProgram('bwrap', test);
  const { checks } = await examine();
  expect(checks.sandbox).toMatchObject({ status: 'ok', finding: 'helper, confines what programs write' });
  expect(checks['sandbox helper']).toMatchObject({ status: 'ok', finding: 'works' });
  expect(checks['sandbox bubblewrap']).toMatchObject({
    status: 'ok',
    finding: expect.stringMatching(/^works: \/\S*bwrap \d/),
  });
});

it('asks another server what it can, without what only its machine can tell', async () => {
  const url = await listen();
  const { code, report, checks } = await examine('--connect', url);
  expect({ code, url: report.url, platform: report.platform }).toEqual({ code: 0, url, platform: 'linux' });
  expect(Object.keys(checks)).toEqual(['processes', 'terminals', 'sandbox', 'limits', 'shell', 'operations']);
});

it('names what a server lacks', async () => {
  const url = await listen({ disabledCapabilities: ['processAttach', 'fsLinks'] });
  const { code, checks } = await examine('--connect', url);
  expect(code).toBe(0);
  expect(checks.operations).toEqual({
    name: 'operations',
    status: 'limited',
    finding:
      'without processAttach (attach, logs and kill of what others started), fsLinks (links in cp and ls)',
    advice: 'A newer exec-server has them, unless it was started with --disable-capability.',
  });
});

it('tries servers without any of what this one has beyond others', async () => {
  const url = await listen({
    disabledCapabilities: ['processTimeout', 'processTags', 'processSize', 'processWait'],
  });
  const { code, checks } = await examine('--connect', url);
  expect(code).toBe(0);
  for (const name of ['processes', 'terminals', 'limits']) expect(checks[name]?.status).toBe('ok');
});

it('fails where no process can be started', async () => {
  const url = await listen({ allowDirectExec: false });
  const { code, report, checks } = await examine('--connect', url);
  expect({ code, healthy: report.healthy }).toEqual({ code: 1, healthy: false });
  expect(checks.processes).toMatchObject({
    status: 'failed',
    finding: 'direct execution is not allowed on this server',
  });
  expect(checks.terminals?.status).toBe('failed');
});

it('is readable for people, in colours on a terminal', async () => {
  const url = await listen({ disabledCapabilities: ['fsLinks'] });
  const plain = await runCommand(['doctor', '--connect', url]);
  expect(plain.stdout).toMatch(
    new RegExp(
      `^exec-server \\d+\\.\\d+\\.\\d+ on linux, ${url}\n\nok       processes   start, write and end\n`,
    ),
  );
  expect(plain.stdout).toMatch(/\nlimited {2}operations {2}without fsLinks .*\n {21}A newer exec-server /);
  const io = new FakeIo();
  io.stdout.isTTY = true;
  expect((await runCommand(['doctor', '--connect', url], io)).stdout).toContain(
    '\u001b[32mok     \u001b[39m',
  );
});

it('says what to do when there is no server', async () => {
  const { code, stderr } = await runCommand(['doctor', '--connect', 'unix:///nowhere/exec.sock']);
  expect(code).toBe(1);
  expect(stderr).toContain('Is a server running there?');
});

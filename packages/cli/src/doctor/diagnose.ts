import type { Machine } from '@exec-server/client';
import { writeJson } from '../client/json.js';
import { toPrintable } from '../client/printable.js';
import { type StyleName, styleFor } from '../client/styles.js';
import { withMachine } from '../client/with-machine.js';
import type { CommandIo } from '../command-io.js';
import type { DoctorFlags } from '../commands/doctor.js';
import { ExitCode } from '../exit-codes.js';
import type { Check } from './check.js';
import { checkCapabilities, checkShell } from './check-environment.js';
import { checkLimits } from './check-limits.js';
import { checkStart, checkTerminal } from './check-processes.js';
import { checkSandbox } from './check-sandbox.js';

/** How a server was described. */
interface Diagnosis {
  /** Absent for a server of the command's own, on this machine. */
  readonly url: string | undefined;
  readonly version: string | undefined;
  readonly platform: string | undefined;
  readonly checks: readonly Check[];
}

const MARKS: Readonly<Record<Check['status'], { readonly text: string; readonly style: StyleName }>> = {
  ok: { text: 'ok', style: 'green' },
  limited: { text: 'limited', style: 'yellow' },
  failed: { text: 'FAILED', style: 'red' },
};

const MARK_WIDTH = Math.max(...Object.values(MARKS).map(({ text }) => text.length));

/** Finds out what a server offers and prints it. Fails when something is missing that it cannot do without. */
export async function diagnose(flags: DoctorFlags, io: CommandIo): Promise<number> {
  const diagnosis = await withMachine(flags, io, async ({ machine, url }) => examine(machine, url));
  const healthy = diagnosis.checks.every(({ status }) => status !== 'failed');
  if (flags.json === true) writeJson(io, toJson(diagnosis, healthy));
  else io.stdout.write(describe(diagnosis, io));
  return healthy ? ExitCode.success : ExitCode.failure;
}

async function examine(machine: Machine, url: string | undefined): Promise<Diagnosis> {
  const { executorVersion, platformOs } = await machine.environment();
  // What only the machine itself can tell needs the server's own code, which is loaded only where it runs here.
  const host = url === undefined ? await import('./check-host.js') : undefined;
  const sandboxes = await host?.checkHostSandboxes();
  const checks = [
    ...(host?.checkHost() ?? []),
    await checkStart(machine),
    await checkTerminal(machine),
    await checkSandbox(machine, sandboxes?.known),
    ...(sandboxes?.checks ?? []),
    await checkLimits(machine),
    await checkShell(machine),
    await checkCapabilities(machine),
  ];
  return { url, version: executorVersion ?? undefined, platform: platformOs ?? undefined, checks };
}

/** What programs get: every member is there, `null` where there is nothing to tell. */
function toJson({ url, version, platform, checks }: Diagnosis, healthy: boolean) {
  return {
    healthy,
    url: url ?? null,
    version: version ?? null,
    platform: platform ?? null,
    checks: checks.map((check) => ({ ...check, advice: check.advice ?? null })),
  };
}

function describe({ url, version, platform, checks }: Diagnosis, { stdout, env }: CommandIo): string {
  const style = styleFor(stdout, env);
  const title = `exec-server ${version ?? 'of an unknown version'} on ${platform ?? 'an unknown system'}`;
  const nameWidth = Math.max(...checks.map(({ name }) => name.length));
  const lines = checks.flatMap(({ name, status, finding, advice }) => {
    const { text, style: styleName } = MARKS[status];
    const head = `${style(styleName, text.padEnd(MARK_WIDTH))}  ${style('bold', name.padEnd(nameWidth))}  `;
    const indent = ' '.repeat(MARK_WIDTH + nameWidth + 4);
    const line = `${head}${toPrintable(finding)}`;
    return advice === undefined ? [line] : [line, `${indent}${style('dim', advice)}`];
  });
  return `${toPrintable(`${title}, ${url ?? 'this machine'}`)}\n\n${lines.join('\n')}\n`;
}

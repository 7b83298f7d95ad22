import {
  type BackendDescription,
  describeBackends,
  probeCgroups,
  probeNativeLauncher,
} from '@exec-server/server';
import type { Check } from './check.js';
import type { KnownSandbox } from './check-sandbox.js';

/** The oldest version of Node that is supported. */
const OLDEST_NODE = { major: 20, minor: 19 } as const;

/** What can be found out only on the machine itself. */
export function checkHost(): Check[] {
  return [checkNode(process.versions.node), checkLauncher(), checkCgroups()];
}

/** What the sandbox of this machine is, and what came of trying each that there could be. */
export async function checkHostSandboxes(): Promise<{
  readonly known: KnownSandbox;
  readonly checks: Check[];
}> {
  const backends = await describeBackends();
  const chosen = backends.find(({ works }) => works);
  const hints = backends.flatMap((backend) => (backend.works ? [] : (backend.hint ?? [])));
  return {
    known: {
      title: chosen?.name ?? 'no sandbox',
      hint: hints.length === 0 ? undefined : `To have one: ${hints[0]}.`,
    },
    checks: judgeBackends(backends),
  };
}

/** One that does not work is worth a word only where no other does as much. */
export function judgeBackends(backends: readonly BackendDescription[]): Check[] {
  const hasViews = backends.some(({ works, makesViews }) => works && makesViews);
  return backends.map((backend): Check => {
    const name = `sandbox ${backend.name}`;
    if (backend.works)
      return {
        name,
        status: 'ok',
        finding: backend.detail === undefined ? 'works' : `works: ${backend.detail}`,
      };
    const { reason, hint } = backend;
    if (hasViews) return { name, status: 'ok', finding: `does not work, and is not needed: ${reason}` };
    return {
      name,
      status: 'limited',
      finding: `does not work: ${reason}`,
      ...(hint !== undefined && { advice: `To have it: ${hint}.` }),
    };
  });
}

export function checkNode(version: string): Check {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const { major: oldestMajor, minor: oldestMinor } = OLDEST_NODE;
  const isSupported = major > oldestMajor || (major === oldestMajor && minor >= oldestMinor);
  return {
    name: 'node',
    status: isSupported ? 'ok' : 'failed',
    finding: version,
    ...(!isSupported && { advice: `Use Node ${oldestMajor}.${oldestMinor} or newer.` }),
  };
}

function checkLauncher(): Check {
  const name = 'launcher';
  const support = probeNativeLauncher();
  if (support.usable) return { name, status: 'ok', finding: 'native' };
  return {
    name,
    status: 'limited',
    finding: `portable, because the native one cannot be used: ${support.reason}`,
    advice:
      'It is there for Linux on x64 and arm64, with the optional dependencies of the package installed.',
  };
}

function checkCgroups(): Check {
  const name = 'cgroups';
  const support = probeCgroups();
  if (support.usable)
    return { name, status: 'ok', finding: `each process gets one of its own in ${support.directory}` };
  return {
    name,
    status: 'limited',
    finding: `none for processes: ${support.reason}`,
    advice:
      'Daemons that leave their process are found by other means, which they can evade. ' +
      'A systemd unit with Delegate=yes, or a writable cgroup2 file system in a container, gives it one.',
  };
}

import { describeSandbox, probeCgroups, probeNativeLauncher } from '@exec-server/server';
import type { Check } from './check.js';
import type { KnownSandbox } from './check-sandbox.js';

/** The oldest version of Node that is supported. */
const OLDEST_NODE = { major: 20, minor: 19 } as const;

/** What can be found out only on the machine itself. */
export function checkHost(): Check[] {
  return [checkNode(process.versions.node), checkLauncher(), checkCgroups()];
}

/** What the sandbox of this machine is, whether it works or not. */
export function describeHostSandbox(): KnownSandbox {
  const { kind, version, hint } = describeSandbox();
  return {
    title: version === undefined ? kind : `${kind} ${version}`,
    hint: hint && `To have one: ${hint}.`,
  };
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

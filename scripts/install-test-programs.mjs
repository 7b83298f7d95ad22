// Installs the programs that tests need and this machine lacks, where it may: on Debian and its relatives, as root or by a
// sudo that asks for no password. Where it may not, the tests that need them are skipped; with CI set it fails.
//   TEST_INSTALL=0 npm test   leaves the machine as it is
import { spawnSync } from 'node:child_process';
import { findMissingPrograms, isOnPath, TEST_PROGRAMS } from './test-programs.mjs';

const missing = findMissingPrograms();
if (missing.length > 0) {
  const obstacle = findObstacle() ?? install(missing);
  if (obstacle !== undefined) report(obstacle);
}

/** Why nothing can be installed here. */
function findObstacle() {
  if (process.env.TEST_INSTALL === '0') return 'TEST_INSTALL=0 forbids installing them';
  if (!isOnPath('apt-get')) return 'this machine has no apt-get to install them with';
  if (process.getuid() !== 0 && !runs('sudo', ['-n', 'true']))
    return 'installing them needs root, or sudo without a password';
  return undefined;
}

/** @returns {string | undefined} what went wrong */
function install(programs) {
  const packages = [...new Set(programs.map((name) => TEST_PROGRAMS.get(name)))];
  const commands = [
    ['apt-get', 'update', '--quiet=2'],
    ['apt-get', 'install', '--yes', '--quiet=2', '--no-install-recommends', ...packages],
  ];
  console.log(`Tests need ${programs.join(', ')}. Installing them (TEST_INSTALL=0 forbids that):`);
  for (const command of commands) {
    const [program, ...args] =
      process.getuid() === 0 ? command : ['sudo', '-n', 'DEBIAN_FRONTEND=noninteractive', ...command];
    console.log(`  ${command.join(' ')}`);
    if (!runs(program, args, 'inherit')) return `\`${command.join(' ')}\` failed`;
  }
  const stillMissing = findMissingPrograms();
  return stillMissing.length === 0 ? undefined : `the packages do not have ${stillMissing.join(', ')}`;
}

function report(obstacle) {
  console.error(`Tests need ${findMissingPrograms().join(', ')}, and ${obstacle}.`);
  if (process.env.CI) process.exitCode = 1;
  else console.error('The tests that need them are skipped, and listed at the end.');
}

function runs(program, args, output = 'ignore') {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  return spawnSync(program, args, { env, stdio: ['ignore', output, output] }).status === 0;
}

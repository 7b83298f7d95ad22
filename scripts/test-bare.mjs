// Runs the tests of sandboxes and of the start of the server as on a machine without bubblewrap, a browser, tmux and a
// compiler: their search path is a directory with links to all other programs. Run it after a build:
//   node scripts/test-bare.mjs [TEST PATHS]
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { isOnPath } from './test-programs.mjs';

/** By their names, versions and kinds of processors aside. */
const HIDDEN = ['bwrap', 'chromium', 'chromium-browser', 'google-chrome', 'tmux'];
const HIDDEN_COMPILERS = ['cc', 'gcc', 'g++', 'c++', 'clang', 'clang++', 'tcc', 'musl-gcc'];

const TESTS = [
  'packages/server/test/sandbox',
  'packages/server/test/process/confinement',
  'packages/server/test/process/many-rules',
  'packages/server/test/process/network',
  'packages/server/test/dialects/exec/confined-capabilities',
  'packages/server/test/dialects/exec/fs-confined-handles',
  'packages/cli/test/bin',
  'packages/cli/test/commands/doctor',
  'packages/cli/test/doctor',
  'packages/cli/test/serve/run-server',
];

function isHidden(name) {
  if (HIDDEN.includes(name)) return true;
  return HIDDEN_COMPILERS.some(
    (compiler) => name === compiler || name.endsWith(`-${compiler}`) || isVersionOf(name, compiler),
  );
}

/** Whether a name is that of a compiler and its version, as `x86_64-linux-gnu-gcc-12`. */
function isVersionOf(name, compiler) {
  const [before, version] = name.split(`${compiler}-`, 2);
  return version !== undefined && Number.isFinite(Number(version)) && (before === '' || before.endsWith('-'));
}

function linkPrograms(directory) {
  const linked = new Set();
  for (const place of (process.env.PATH ?? '').split(delimiter)) {
    for (const name of listNames(place)) {
      if (linked.has(name) || isHidden(name)) continue;
      linked.add(name);
      symlinkSync(join(place, name), join(directory, name));
    }
  }
}

function listNames(directory) {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

const directory = mkdtempSync(join(tmpdir(), 'exec-server-bare-'));
try {
  linkPrograms(directory);
  const left = [...HIDDEN, ...HIDDEN_COMPILERS].filter((name) => isOnPath(name, directory));
  if (left.length > 0) throw new Error(`still on the search path: ${left.join(', ')}`);
  const tests = process.argv.length > 2 ? process.argv.slice(2) : TESTS;
  const { status } = spawnSync(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', ...tests], {
    stdio: 'inherit',
    env: { ...process.env, PATH: directory, TEST_HIDDEN: [...HIDDEN, ...HIDDEN_COMPILERS].join(',') },
  });
  process.exitCode = status ?? 1;
} finally {
  rmSync(directory, { recursive: true });
}

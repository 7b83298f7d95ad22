// Puts the command and what it needs into one file, packages/cli/bundle/modules.pack, so that it starts fast. Each
// command compiles only the modules with its own code. Run after the compiler: it reads what that wrote.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import Module, { createRequire } from 'node:module';
import { basename, dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, transform } from 'esbuild';
import { WebSocket } from 'ws';
import { loadAtFirstUse } from './load-at-first-use.mjs';
import { packFiles } from './pack-files.mjs';

const { BUILT_FROM, COMPILED, MODULES, PACKAGES, Pack, WRAPPER, digestBuild } = createRequire(
  import.meta.url,
)('../packages/cli/bin/load-bundle.js');
const CLI = fileURLToPath(new URL('../packages/cli/', import.meta.url));
const BUNDLE = dirname(MODULES);
const SERVER = join(CLI, '../server/dist/');
/** Programs that the server starts beside itself, each with the module that reads it and the function that does. */
const PROGRAM_READERS = {
  'sandbox/files/file-helper.cjs': { module: 'sandbox/files/read-file-helper.js', name: 'readFileHelper' },
  'snapshot/screen-worker.cjs': { module: 'snapshot/read-screen-worker.js', name: 'readScreenWorker' },
};
/** The programs that make sandboxes, by processor, and the module that reads the one for this machine. */
const SANDBOX_PROGRAMS = ['x64', 'arm64'].map((processor) => join(SERVER, `../sandbox/sandbox-${processor}`));
const SANDBOX_PROGRAM_READER = /\/sandbox\/program\/read-program\.js$/;
/** They find their native code by their own place. */
const EXTERNAL = ['koffi', '@lydell/node-pty'];
/** Packages that a start does not use: modules of their own, so that it does not compile them. */
const UNUSED_AT_START = ['pino'];
const TARGET = 'node20';
/** What `import.meta.url` becomes in CommonJS. */
const MODULE_URL = '__moduleUrl';
const FIRST_REQUEST = '{"id":1,"method":"initialize","params":{"clientName":"build"}}';
const LICENSE_FILE = /^licen[cs]e/i;

// Before the bundler reads, so that what the compiler writes meanwhile makes the bundle stale.
const builtFrom = Object.fromEntries(PACKAGES.map((name) => [name, digestBuild(name)]));

const { outputFiles, metafile } = await build({
  absWorkingDir: CLI,
  entryPoints: ['dist/main.js', ...UNUSED_AT_START].map((path) => ({
    in: path,
    out: basename(path, '.js'),
  })),
  outdir: BUNDLE,
  write: false,
  bundle: true,
  // Only ES modules are split.
  format: 'esm',
  splitting: true,
  platform: 'node',
  target: TARGET,
  external: EXTERNAL,
  legalComments: 'none',
  metafile: true,
  plugins: [
    { name: 'programs', setup: takeProgramsFromPack },
    { name: 'sandbox-programs', setup: takeSandboxProgramsFromPack },
  ],
});

const modules = new Map();
for (const { path, text } of outputFiles)
  modules.set(basename(path), Buffer.from(WRAPPER.join(await toCommonJs(text)), 'latin1'));
for (const path of Object.keys(PROGRAM_READERS))
  modules.set(basename(path), readFileSync(join(SERVER, path)));
for (const file of SANDBOX_PROGRAMS) modules.set(basename(file), readFileSync(file));
rmSync(BUNDLE, { recursive: true, force: true });
packFiles(MODULES, modules);
writeFileSync(join(BUNDLE, 'THIRD-PARTY-LICENSES.txt'), collectLicenses(Object.keys(metafile.inputs)));
await compileForStart();
packForStart(modules);
writeFileSync(BUILT_FROM, JSON.stringify(builtFrom));
if ('enableCompileCache' in Module) rmSync(dirname(COMPILED), { recursive: true });

/** In the bundle a program is a file of the pack: there is nothing beside a module to be read. */
function takeProgramsFromPack({ onLoad, onResolve }) {
  for (const [path, { module, name }] of Object.entries(PROGRAM_READERS)) {
    const specifier = `./${basename(path)}`;
    onLoad({ filter: new RegExp(`/${module.replaceAll('.', '\\.')}$`) }, () => ({
      contents: `import { bytes } from '${specifier}'; export const ${name} = () => bytes;`,
    }));
    onResolve({ filter: /\.cjs$/ }, (resolved) =>
      resolved.path === specifier ? { path: resolved.path, external: true } : undefined,
    );
  }
}

/** The same for the programs that make sandboxes. */
function takeSandboxProgramsFromPack({ onLoad, onResolve }) {
  onLoad({ filter: SANDBOX_PROGRAM_READER }, () => ({
    contents: `import { bytes as x64 } from './sandbox-x64'; import { bytes as arm64 } from './sandbox-arm64';
      export const readProgram = async (architecture) => (architecture === 'x64' ? x64 : arm64);`,
  }));
  onResolve({ filter: /^\.\/sandbox-\w+64$/ }, ({ path }) => ({ path, external: true }));
}

/** Puts what a start uses first, as it is, and makes small what waits in memory until somebody needs it. */
function packForStart(modules) {
  // Each start tries a sandbox.
  const used = [...new Pack(COMPILED).names(), ...SANDBOX_PROGRAMS.map((file) => basename(file))];
  const unused = [...modules.keys()].filter((name) => !used.includes(name));
  const ordered = new Map([...used, ...unused].map((name) => [name, modules.get(name)]));
  packFiles(MODULES, ordered, new Set(unused));
}

/** CommonJS starts faster than ES modules: it is read synchronously, and Node 20 can be given its compiled code. */
async function toCommonJs(text) {
  const { code } = await transform(text, {
    format: 'cjs',
    platform: 'node',
    target: TARGET,
    supported: { 'dynamic-import': false },
    define: { 'import.meta.url': MODULE_URL },
    minifySyntax: true,
    minifyWhitespace: true,
  });
  const lazyCode = loadAtFirstUse(code);
  const needsUrl = code.includes(MODULE_URL);
  return needsUrl
    ? `const ${MODULE_URL}=require('node:url').pathToFileURL(__filename).href;${lazyCode}`
    : lazyCode;
}

/** The licenses of the packages that files come from. */
function collectLicenses(files) {
  const packages = new Set(files.map(packageDirectory).filter((directory) => directory !== undefined));
  return [...packages]
    .sort((a, b) => a.localeCompare(b))
    .map(describeLicense)
    .join('\n');
}

/** The directory of the foreign package that a file belongs to. */
function packageDirectory(file) {
  const path = join(CLI, file);
  const at = path.lastIndexOf(`${sep}node_modules${sep}`);
  if (at === -1) return undefined;
  const [scope, name] = path.slice(at + '/node_modules/'.length).split(sep);
  return join(path.slice(0, at), 'node_modules', scope.startsWith('@') ? join(scope, name) : scope);
}

function describeLicense(directory) {
  const { name, version, license } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
  const file = readdirSync(directory).find((entry) => LICENSE_FILE.test(entry));
  const text = file === undefined ? '' : `\n${readFileSync(join(directory, file), 'utf8').trim()}\n`;
  return `${name} ${version} (${license})\n${text}`;
}

/** Lets the command answer its first request, as a WebSocket server and over stdio, and keeps what V8 compiled for that. */
async function compileForStart() {
  const program = fileURLToPath(new URL('keep-compiled-code.mjs', import.meta.url));
  const args = [program, 'serve', '--listen', 'stdio', '--listen', 'ws://127.0.0.1:0'];
  const server = spawn(process.execPath, args, { stdio: 'pipe' });
  const exited = once(server, 'exit');
  server.stdin.write(`${FIRST_REQUEST}\n`);
  await Promise.all([once(server.stdout, 'data'), askOverWebSocket(await findAddress(server.stderr))]);
  server.stdin.end();
  const [code] = await exited;
  if (code !== 0) throw new Error(`the bundled command ended with ${code}`);
}

async function findAddress(stream) {
  let text = '';
  for await (const chunk of stream) {
    text += chunk;
    const address = /ws:\S+(?=\s)/.exec(text)?.[0];
    if (address !== undefined) return address;
  }
  throw new Error(`the bundled command does not start: ${text}`);
}

async function askOverWebSocket(address) {
  const socket = new WebSocket(address);
  await once(socket, 'open');
  socket.send(FIRST_REQUEST);
  await once(socket, 'message');
  socket.terminate();
}

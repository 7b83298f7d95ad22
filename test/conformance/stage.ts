import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { JWT_SECRET } from './jwt-cases.js';
import { Bindings } from './placeholders.js';
import { startUpstream } from './upstream.js';
import { waitForProcessIn } from './wait-for-process-in.js';

/** What a scenario finds when it begins: directories, files, the server's environment. */
export interface Stage extends AsyncDisposable {
  readonly bindings: Bindings;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Request headers of connections for which the recording names none. */
  readonly headers: Readonly<Record<string, string>>;
  /** Waits for what the recording's client waited for before it opened this connection. */
  beforeOpen(conn: string): Promise<void>;
}

interface Directories {
  readonly root: string;
  readonly work: string;
  readonly home: string;
  readonly codexHome: string;
}

interface Props {
  readonly files?: (directories: Directories) => void;
  readonly env?: NodeJS.ProcessEnv;
  readonly headers?: Readonly<Record<string, string>>;
  readonly upstream?: true;
  readonly beforeOpen?: Readonly<Record<string, (directories: Directories) => Promise<void>>>;
}

/** What single scenarios need beyond the empty directories. */
const PROPS: Readonly<Record<string, Props>> = {
  '14-environment-info': { env: { TMPDIR: '/var/tmp' } },
  '28-process-start-errors': { files: ({ work }) => write(join(work, 'noexec'), 'not a program\n') },
  '30-process-env-policy': { env: { FOO_INH: 'inh', MY_TOKEN: 'sekret' } },
  '35-shell-snapshot': {
    files: ({ home }) =>
      write(join(home, '.bash_profile'), 'export FROMPROFILE=yes\nmyfn() { echo fn-called; }\n'),
  },
  '40-session-resume': {
    files: ({ work }) => write(join(work, 'f'), '0123456789'),
    // The process has printed its line, to nobody, once it has gone on to its last command.
    beforeOpen: { B: ({ work }) => waitForProcessIn(work, ['sleep', '30']) },
  },
  '50-fs-read-write': { files: writeTree },
  '52-fs-metadata': { files: writeTree },
  '53-fs-directories': { files: writeTree },
  '54-fs-readdirectory-canonicalize': { files: writeTree },
  '55-fs-walk': { files: writeTree },
  '57-fs-open-readblock': {
    files: (directories) => {
      writeTree(directories);
      write(join(directories.work, 'f'), '0123456789');
    },
  },
  '59-fs-path-uris': { files: writeTree },
  '60-fs-sandbox': { files: writeTree },
  '70-http-buffered': { upstream: true, env: { HDR_ENV: 'envval' } },
  '72-http-stream': { upstream: true },
  '80-capability-roots-v1': { files: writePlugin },
  '81-capabilities-v2': { files: writeInstalledCapabilities },
  '82-environment-config-read': { files: writeConfiguration },
  '91-ws-auth-capability-token': {
    files: ({ root }) => write(join(root, 'tok'), 's3cret\n'),
    headers: { Authorization: 'Bearer s3cret' },
  },
  '92-ws-auth-jwt': { files: ({ root }) => write(join(root, 'sec'), `${JWT_SECRET}\n`) },

  'app/14-env': { env: { PROBE_INHERITED: 'yes', FOO_KEY: 'k', MY_TOKEN: 't', A_SECRET: 's' } },
  'app/30-process-buffered': { env: { PROBE_INHERITED: 'yes', MY_TOKEN: 'kept-for-process-spawn' } },
  'app/43-listen-and-auth': { files: ({ root }) => write(join(root, 'tok'), 's3cret\n') },
  'app/50-fs': {
    files: ({ work }) => {
      mkdirSync(join(work, 'a'));
      symlinkSync('f.txt', join(work, 'a/link'));
      symlinkSync('b', join(work, 'a/dirlink'));
      symlinkSync('nowhere', join(work, 'a/dangling'));
      execFileSync('mkfifo', [join(work, 'fifo')]);
    },
  },
  'app/51-fs-watch': {
    files: (directories) => {
      writeWatched(directories);
      mkdirSync(join(directories.work, 'dir/sub'));
    },
  },
  'app/52-fs-watch-bursts': { files: writeWatched },
};

export async function setStage(scenario: string): Promise<Stage> {
  const props = PROPS[scenario] ?? {};
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'conformance-')));
  const directories = {
    root,
    work: join(root, 'work'),
    home: join(root, 'home'),
    codexHome: join(root, 'codex-home'),
  };
  for (const directory of [directories.work, directories.home, directories.codexHome]) mkdirSync(directory);
  props.files?.(directories);
  const upstream = props.upstream ? await startUpstream() : undefined;

  const bindings = new Bindings();
  bindings.bind('TMPROOT', root);
  bindings.bind('TMP', directories.work);
  bindings.bind('CWD', directories.work);
  bindings.bind('HOME', directories.home);
  bindings.bind('CODEX_HOME', directories.codexHome);
  bindings.bind('HOSTNAME', hostname());
  bindings.bind('TOKEN_FILE', join(root, 'tok'));
  if (upstream !== undefined) bindings.bind('PORT', String(upstream.port));

  return {
    bindings,
    cwd: directories.work,
    env: {
      PATH: process.env.PATH,
      HOME: directories.home,
      CODEX_HOME: directories.codexHome,
      LANG: 'C.UTF-8',
      SHELL: '/bin/fakeshell',
      USER: 'u',
      ...props.env,
    },
    headers: props.headers ?? {},
    beforeOpen: async (conn) => props.beforeOpen?.[conn]?.(directories),
    [Symbol.asyncDispose]: async () => {
      await upstream?.[Symbol.asyncDispose]();
      rmSync(root, { recursive: true });
    },
  };
}

function write(path: string, content: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

function writeTree({ work }: Directories): void {
  const tree = join(work, 'd');
  write(join(tree, 'a.txt'), 'hello');
  write(join(tree, 'sub/b.txt'), 'b');
  write(join(tree, '.hid/x'), 'x');
  write(join(tree, 'sp ace%#?é.txt'), 'sp');
  symlinkSync('a.txt', join(tree, 'link'));
  symlinkSync('sub', join(tree, 'dlink'));
  symlinkSync('nowhere', join(tree, 'broken'));
}

function writeWatched({ work }: Directories): void {
  write(join(work, 'f'), 'f');
  mkdirSync(join(work, 'dir'));
}

function writePlugin({ work }: Directories): void {
  const plugin = join(work, 'plug');
  write(
    join(plugin, '.codex-plugin/plugin.json'),
    '{"name":"plug","mcpServers":"./mcp.json","apps":"./apps.json"}',
  );
  write(join(plugin, 'mcp.json'), '{}');
  write(join(plugin, 'apps.json'), '{}');
  write(join(plugin, 'skills/foo/SKILL.md'), '---\nname: foo\ndescription: Foo\n---\nbody');
  write(join(plugin, 'skills/foo/agents/openai.yaml'), 'interface: {}\n');
  write(join(work, 'file'), '');
}

function writeInstalledCapabilities({ home, codexHome }: Directories): void {
  const plugin = join(codexHome, 'plugins/cache/mk/plg/1.0.0');
  write(join(plugin, '.codex-plugin/plugin.json'), '{"name":"plg","version":"1.0.0","skills":"./skills"}');
  write(join(plugin, 'skills/ps/SKILL.md'), '---\nname: ps\ndescription: PS\n---\nbody');
  write(join(home, '.agents/skills/bar/SKILL.md'), '---\nname: bar\ndescription: Bar skill\n---\nbody');
  write(join(codexHome, 'config.toml'), '[plugins."plg@mk"]\nenabled = true\n');
}

function writeConfiguration({ work, codexHome }: Directories): void {
  const trust = `[projects."${work}"]\ntrust_level = "trusted"\n`;
  write(join(codexHome, 'config.toml'), `model = "home"\n\n[mcp_servers.b]\nurl = "http://y"\n\n${trust}`);
  write(join(work, '.codex/config.toml'), 'model = "zz"\n\n[mcp_servers.a]\nurl = "http://x"\n');
}

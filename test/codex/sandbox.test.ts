import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { requireBackend, VIEW_BACKENDS } from '../../packages/server/test/support/sandbox.js';
import { CodexRun, type CodexRunOptions } from './codex-run.js';
import { CODEX_BIN, requireCodex } from './require-codex.js';
import { IS_OWN_SERVER, serve, setStage } from './stage.js';
import { endedText } from './tool-output.js';

const DONE = { code: 0, signal: null };

/** Temporary files are in no sandbox here: the directories of a test are among them. */
const WORKSPACE_ALONE =
  '[sandbox_workspace_write]\nexclude_slash_tmp = true\nexclude_tmpdir_env_var = true\n';

const patch = (...lines: string[]) =>
  ["apply_patch <<'EOF'", '*** Begin Patch', ...lines, '*** End Patch', 'EOF', ''].join('\n');

interface ServerCase {
  readonly name: string;
  readonly backend: (typeof VIEW_BACKENDS)[number] | undefined;
  readonly args: readonly string[];
}

/** What confines is this server's affair: another one is tried as it is. */
const SERVERS: readonly ServerCase[] = IS_OWN_SERVER
  ? VIEW_BACKENDS.map((backend) => ({ name: backend, backend, args: ['--sandbox-backend', backend] }))
  : [{ name: 'itself', backend: undefined, args: [] }];

describe.each(SERVERS)('the Codex CLI in a sandbox by $name', ({ backend, args }) => {
  beforeEach(async (context) => {
    requireCodex(context);
    if (backend !== undefined) await requireBackend(context, backend);
  });

  async function start(options: CodexRunOptions) {
    const stage = setStage();
    const { url } = await serve(stage, ...args);
    const codex = await CodexRun.start(CODEX_BIN, stage, { url }, options);
    return { stage, codex, home: stage.env.HOME ?? '' };
  }

  test('writes in the workspace alone', async () => {
    const { stage, codex, home } = await start({ sandbox: 'workspace-write', moreConfig: WORKSPACE_ALONE });
    expect((await codex.run('echo in > mine && cat mine')).text).toBe(endedText(0, 'in\n'));
    expect((await codex.run('echo out > "$HOME/theirs"')).text).toMatch(/Read-only file system/);
    expect(existsSync(join(home, 'theirs'))).toBe(false);
    expect(readFileSync(join(stage.work, 'mine'), 'utf8')).toBe('in\n');
    // The exit code is that of the signal.
    expect((await codex.run('kill -9 $$')).text).toBe(endedText(137, ''));
    expect(await codex.finish()).toEqual(DONE);
  });

  test('patches files in the workspace', async () => {
    const { stage, codex } = await start({ sandbox: 'workspace-write', moreConfig: WORKSPACE_ALONE });
    await codex.run(patch('*** Add File: made.txt', '+made'));
    expect(readFileSync(join(stage.work, 'made.txt'), 'utf8')).toBe('made\n');
    expect(await codex.finish()).toEqual(DONE);
  });

  test('writes nothing where it may only read, and reaches nobody', async () => {
    const { stage, codex } = await start({ sandbox: 'read-only' });
    writeFileSync(join(stage.work, 'mine'), 'before\n');
    expect((await codex.run('cat mine')).text).toBe(endedText(0, 'before\n'));
    expect((await codex.run('echo after > mine')).text).toMatch(/Read-only file system/);
    expect((await codex.run('exec 3<>/dev/tcp/127.0.0.1/9')).text).toMatch(/Operation not permitted/);
    expect(readFileSync(join(stage.work, 'mine'), 'utf8')).toBe('before\n');
    expect(await codex.finish()).toEqual(DONE);
  });
});

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isRunning, waitForProcessGone } from '@exec-server/testing';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { CodexRun, type CodexRunOptions, type EnvironmentSource } from './codex-run.js';
import { CutProxy } from './cut-proxy.js';
import { CODEX_BIN, requireCodex } from './require-codex.js';
import { IS_OWN_SERVER, SERVER_COMMAND, type Stage, serve, setStage, waitForFile } from './stage.js';
import { countTokens, endedText } from './tool-output.js';

const CTRL_C = '\u0003';
const DONE = { code: 0, signal: null };

/** The one difference: on terminals the CLI's own server says 1 whatever the signal was (docs/compatibility.md). */
const INTERRUPTED_ON_TERMINAL = IS_OWN_SERVER ? 130 : 1;

async function startCodex(
  stage: Stage,
  environment?: EnvironmentSource,
  options?: CodexRunOptions,
): Promise<CodexRun> {
  return CodexRun.start(CODEX_BIN, stage, environment ?? { url: (await serve(stage)).url }, options);
}

/** Shell text that tells the test, by a file, that the command has come this far. */
const tell = (file: string) => `: > ${file}`;

/** Shell text that goes on once the test has made that file. */
const waitFor = (file: string) => `until [ -e ${file} ]; do sleep 0.02; done`;

/** Shell text that the CLI takes for a patch and carries out itself, through the file methods. */
const patch = (...lines: string[]) =>
  ["apply_patch <<'EOF'", '*** Begin Patch', ...lines, '*** End Patch', 'EOF', ''].join('\n');

const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, at) => `${from + at}\n`).join('');

describe('the Codex CLI', () => {
  beforeEach((test) => requireCodex(test));

  test('runs commands: the model gets every byte and the exit code', async () => {
    const stage = setStage();
    mkdirSync(join(stage.work, 'sub'));
    const codex = await startCodex(stage);
    const mixed = await codex.run(String.raw`printf 'h\303\251llo\n\ttab, no newline at the end'; exit 3`);
    expect(mixed.text).toBe(endedText(3, 'héllo\n\ttab, no newline at the end'));
    expect((await codex.run('echo oops >&2; exit 1')).text).toBe(endedText(1, 'oops\n'));
    expect((await codex.run('pwd', { workdir: 'sub' })).text).toBe(endedText(0, `${stage.work}/sub\n`));
    expect((await codex.run('cat; echo "$CODEX_CI $NO_COLOR"')).text).toBe(endedText(0, '1 1\n'));
    expect((await codex.run('kill -9 $$')).text).toBe(endedText(137, ''));
    expect((await codex.run('true', { workdir: 'missing' })).text).toContain(
      'exec-server rejected request (-32603): No such file or directory (os error 2)',
    );
    expect(await codex.finish()).toEqual(DONE);
  });

  test('gets all of a flood', async () => {
    const codex = await startCodex(setStage());
    const { text } = await codex.run('seq 1 300000', { max_output_tokens: 20 });
    // The CLI shows the model both ends of what it got, and counts the rest.
    expect(text).toContain(`\nOriginal token count: ${countTokens(numbers(1, 300_000))}\n`);
    expect(text).toContain(`\n\n${numbers(1, 16)}1…`);
    expect(text.endsWith(`…9995\n${numbers(299_996, 300_000)}`)).toBe(true);
    expect(await codex.finish()).toEqual(DONE);
  });

  test('talks to a program on a terminal', async () => {
    const stage = setStage();
    const codex = await startCodex(stage);
    const ask = `test -t 0 && test -t 1 && printf 'name? '; ${tell('asked')}; read name`;
    const asked = await codex.startCommand(`${ask}; echo "hello $name"; stty size; exit 4`, { tty: true });
    await waitForFile(stage.work, 'asked');
    const answered = await codex.type(asked, 'wörld\n');
    expect(asked.output + answered.output).toBe('name? wörld\r\nhello wörld\r\n24 80\r\n');
    expect(answered.text).toContain('\nProcess exited with code 4\n');
    const late = await codex.type(asked, 'more\n');
    expect(late.text).toBe(`write_stdin failed: Unknown process id ${asked.sessionId}`);
    expect(await codex.finish()).toEqual(DONE);
  });

  test.each([
    { on: 'pipes', tty: false, untrapped: 130, echo: '', newline: '\n' },
    { on: 'a terminal', tty: true, untrapped: INTERRUPTED_ON_TERMINAL, echo: '^C', newline: '\r\n' },
  ])('interrupts a long command on $on', async ({ tty, untrapped, echo, newline }) => {
    const stage = setStage();
    const codex = await startCodex(stage);
    const plain = await codex.startCommand(`echo $$ > pid; ${tell('running')}; exec sleep 300`, { tty });
    await waitForFile(stage.work, 'running');
    expect((await codex.type(plain, CTRL_C)).text).toBe(endedText(untrapped, echo));
    expect(isRunning(Number(readFileSync(join(stage.work, 'pid'), 'utf8')))).toBe(false);

    const trap = `trap 'echo caught; exit 7' INT; ${tell('trapped')}; while :; do sleep 0.05; done`;
    const trapping = await codex.startCommand(trap, { tty });
    await waitForFile(stage.work, 'trapped');
    expect((await codex.type(trapping, CTRL_C)).text).toBe(endedText(7, `${echo}caught${newline}`));
    expect(await codex.finish()).toEqual(DONE);
  });

  test('applies a patch: files added in new directories, changed, moved and removed', async () => {
    const stage = setStage();
    const path = (name: string) => join(stage.work, name);
    writeFileSync(path('changed.txt'), 'one\ntwo\nthree\n');
    writeFileSync(path('old name.txt'), 'moved\n');
    writeFileSync(path('removed.txt'), 'gone\n');
    const codex = await startCodex(stage);
    const applied = await codex.run(
      patch(
        '*** Add File: new/directory/added.txt',
        '+added',
        '+ünïcode',
        '*** Update File: changed.txt',
        '@@',
        ' one',
        '-two',
        '+2',
        ' three',
        '*** Update File: old name.txt',
        '*** Move to: new/other/new name.txt',
        '@@',
        '-moved',
        '+moved on',
        '*** Delete File: removed.txt',
      ),
    );
    expect(applied.output.split('\n').slice(-5)).toEqual([
      'A new/directory/added.txt',
      'M changed.txt',
      'M new/other/new name.txt',
      'D removed.txt',
      '',
    ]);
    expect(readFileSync(path('new/directory/added.txt'), 'utf8')).toBe('added\nünïcode\n');
    expect(readFileSync(path('changed.txt'), 'utf8')).toBe('one\n2\nthree\n');
    expect(readFileSync(path('new/other/new name.txt'), 'utf8')).toBe('moved on\n');
    expect(existsSync(path('old name.txt'))).toBe(false);
    expect(existsSync(path('removed.txt'))).toBe(false);

    const refused = await codex.run(patch('*** Update File: missing.txt', '@@', '-a', '+b'));
    expect(refused.text).toBe(
      `apply_patch verification failed: Failed to read file to update ${path('missing.txt')}: No such file or directory (os error 2)`,
    );
    expect(await codex.finish()).toEqual(DONE);
  });

  test('finds the instructions and skills of the project', async () => {
    const stage = setStage();
    const nested = join(stage.work, 'nested');
    const skill = join(stage.work, '.agents/skills/greet');
    for (const directory of [join(stage.work, '.git'), nested, skill])
      mkdirSync(directory, { recursive: true });
    const [outer, inner] = ['Outer instructions of the project.', 'Inner instructions of the directory.'];
    writeFileSync(join(stage.work, 'AGENTS.md'), `${outer}\n`);
    writeFileSync(join(nested, 'AGENTS.md'), `${inner}\n`);
    writeFileSync(join(skill, 'SKILL.md'), '---\nname: greet\ndescription: Greets in verse\n---\nBody.\n');
    const codex = await startCodex({ ...stage, work: nested });
    const opening = JSON.stringify(codex.opening);
    const texts = [outer, inner, 'Greets in verse'];
    expect(texts.filter((text) => opening.includes(text))).toEqual(texts);
    expect(await codex.finish()).toEqual(DONE);
  });

  test('uses a tool server that runs on the other side', async () => {
    const stage = setStage();
    const moreConfig = `
[mcp_servers.elsewhere]
environment_id = "remote"
command = ${JSON.stringify(process.execPath)}
args = [${JSON.stringify(fileURLToPath(new URL('mcp-server.mjs', import.meta.url)))}]
cwd = ${JSON.stringify(stage.work)}
env = { MARK = "marked" }
`;
    const codex = await startCodex(stage, undefined, { moreConfig });
    const { text } = await codex.call('whereabouts', { note: 'ünïcode' }, 'mcp__elsewhere');
    expect(text).toBe(`Wall time: <TIME>\nOutput:\n${stage.work} marked ünïcode`);
    expect(await codex.finish()).toEqual(DONE);
  });

  describe('loses its connection in the middle of a command', () => {
    async function startThroughProxy(stage: Stage) {
      const server = await serve(stage);
      const proxy = await CutProxy.start(server.port);
      onTestFinished(() => proxy[Symbol.asyncDispose]());
      return { server, proxy, codex: await startCodex(stage, { url: proxy.url }) };
    }

    test('and misses nothing of a command that goes on', async () => {
      const stage = setStage();
      const { codex, proxy } = await startThroughProxy(stage);
      const meanwhile = `${waitFor('away')}; seq 301 600; ${tell('meanwhile')}; ${waitFor('back')}`;
      const started = await codex.startCommand(`seq 1 300; ${meanwhile}; seq 601 900; exit 5`);
      const ended = codex.waitForEnd(started);
      await proxy.cut();
      writeFileSync(join(stage.work, 'away'), '');
      await waitForFile(stage.work, 'meanwhile');
      proxy.restore();
      writeFileSync(join(stage.work, 'back'), '');
      expect(started.output + (await ended).output).toBe(numbers(1, 900));
      expect((await ended).text).toContain('\nProcess exited with code 5\n');
      expect((await codex.run('echo next')).text).toBe(endedText(0, 'next\n'));
      expect(await codex.finish()).toEqual(DONE);
    });

    test('and hears of an end that came meanwhile', async () => {
      const stage = setStage();
      const { codex, proxy } = await startThroughProxy(stage);
      const script = `echo $$ > pid; ${tell('running')}; seq 1 300; ${waitFor('away')}; seq 301 900; exit 5`;
      const started = await codex.startCommand(script);
      await waitForFile(stage.work, 'running');
      const ended = codex.waitForEnd(started);
      await proxy.cut();
      writeFileSync(join(stage.work, 'away'), '');
      await waitForProcessGone(Number(readFileSync(join(stage.work, 'pid'), 'utf8')));
      proxy.restore();
      expect(started.output + (await ended).output).toBe(numbers(1, 900));
      expect((await ended).text).toContain('\nProcess exited with code 5\n');
      expect(await codex.finish()).toEqual(DONE);
    });

    test('to a server that has died, and goes on with the next one', async () => {
      const stage = setStage();
      const { codex, proxy, server } = await startThroughProxy(stage);
      const started = await codex.startCommand(`echo $$ > pid; ${tell('running')}; exec sleep 300`);
      await waitForFile(stage.work, 'running');
      const ended = codex.waitForEnd(started);
      server.kill('SIGKILL');
      await proxy.cut();
      await waitForProcessGone(Number(readFileSync(join(stage.work, 'pid'), 'utf8')));
      proxy.restore((await serve(stage)).port);
      expect((await ended).text).toMatch(
        /^write_stdin failed: .*exec-server rejected request \(-32600\): unknown session id [-0-9a-f]{36}$/,
      );
      expect((await codex.run('echo next')).text).toBe(endedText(0, 'next\n'));
      expect(await codex.finish()).toEqual(DONE);
    });
  });

  describe('finds its environment in environments.toml', () => {
    const describeEnvironment = (...lines: string[]) => ({
      environmentsToml: [
        'default = "here"',
        'include_local = false',
        '[[environments]]',
        'id = "here"',
        ...lines,
      ]
        .map((line) => `${line}\n`)
        .join(''),
    });

    async function startWithToken(stage: Stage, token: string): Promise<CodexRun> {
      const tokenFile = join(stage.codexHome, 'token');
      writeFileSync(tokenFile, 'opensesame\n');
      const { url } = await serve(stage, '--ws-auth', 'capability-token', '--ws-token-file', tokenFile);
      return startCodex(stage, describeEnvironment(`url = "${url}"`, `auth_bearer_token = "${token}"`));
    }

    test('with a token', async () => {
      const codex = await startWithToken(setStage(), 'opensesame');
      expect((await codex.run('echo let in')).text).toBe(endedText(0, 'let in\n'));
      expect(await codex.finish()).toEqual(DONE);
    });

    test('with a wrong token, and is kept out', async () => {
      const stage = setStage();
      const codex = await startWithToken(stage, 'opensesam');
      expect((await codex.run(tell('trace'))).text).toMatch(
        /^No usable execution environment is available\./,
      );
      expect(existsSync(join(stage.work, 'trace'))).toBe(false);
      expect(await codex.finish()).toEqual(DONE);
    });

    test('as a program on stdio, which ends with it', async () => {
      const stage = setStage();
      const [program, ...args] = [...SERVER_COMMAND, '--listen', 'stdio'];
      const environment = describeEnvironment(
        `program = ${JSON.stringify(program)}`,
        `args = ${JSON.stringify(args)}`,
      );
      const codex = await startCodex(stage, environment);
      expect((await codex.run('echo by pipe')).text).toBe(endedText(0, 'by pipe\n'));
      await codex.startCommand(`echo $$ $PPID > pids; ${tell('running')}; exec sleep 300`);
      await waitForFile(stage.work, 'running');
      const pids = readFileSync(join(stage.work, 'pids'), 'utf8').trim().split(' ').map(Number);
      expect(await codex.finish()).toEqual(DONE);
      await Promise.all(pids.map((pid) => waitForProcessGone(pid)));
    });
  });
});

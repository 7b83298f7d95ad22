import { fileURLToPath } from 'node:url';
import { SpawnedCommand, waitForProcessGone } from '@exec-server/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { StdioTarget } from '../../src/dial/target.js';
import { createStdioDialer } from '../../src/node/stdio-dialer.js';
import { WireClient } from '../../src/wire-client.js';

const never = new AbortController().signal;
const options = { clientName: 'test' };

/** A server in a few lines of shell: `script` runs after it has told its pid on stderr. */
function shellServer(script: string): { target: StdioTarget; pid: Promise<number> } {
  let tell = (_pid: number) => {};
  const pid = new Promise<number>((resolve) => {
    tell = resolve;
  });
  const target: StdioTarget = {
    command: ['/bin/sh', '-c', `echo "pid $$" >&2; ${script}`],
    stderr: (text) => {
      const told = /pid (\d+)/.exec(text)?.[1];
      if (told !== undefined) tell(Number(told));
    },
  };
  return { target, pid };
}

/** Answers `initialize`, then runs `script`. */
const answering = (script: string) =>
  shellServer(`read line; echo '{"id":1,"result":{"sessionId":"s"}}'; read line; ${script}`);

async function connect(target: StdioTarget) {
  const dialer = createStdioDialer(target, {});
  onTestFinished(() => dialer.close());
  const client = await WireClient.connect(await dialer.dial(never), options);
  return { dialer, client };
}

const BUILT_SERVER = fileURLToPath(new URL('../../../cli/bin/exec-server.js', import.meta.url));

test('a real server runs commands and is gone, with what it runs, when the client closes', async () => {
  const { client } = await connect({ command: [process.execPath, BUILT_SERVER, '--listen', 'stdio'] });
  const told = new Promise<string>((resolve) => {
    client.onOutput(({ data }) => resolve(Buffer.from(data).toString()));
  });
  await client.call('process/start', {
    processId: 'p',
    argv: ['/bin/sh', '-c', 'echo $PPID $$; exec sleep 600'],
    cwd: 'file:///tmp',
    env: { PATH: '/usr/bin:/bin' },
    tty: false,
  });
  const [server = 0, command = 0] = (await told).split(' ').map(Number);
  client.close();
  await client.closed;
  await waitForProcessGone(server);
  await waitForProcessGone(command);
});

describe('the environment', () => {
  test('is that of this process with changes', async () => {
    process.env.EXEC_SERVER_TEST_KEPT = 'kept';
    process.env.EXEC_SERVER_TEST_TAKEN = 'taken';
    onTestFinished(() => {
      delete process.env.EXEC_SERVER_TEST_KEPT;
      delete process.env.EXEC_SERVER_TEST_TAKEN;
    });
    const script = 'echo "$PWD $EXEC_SERVER_TEST_KEPT $EXEC_SERVER_TEST_TAKEN $ADDED" >&2; exit 3';
    const { client } = await connect({
      command: ['/bin/sh', '-c', `read l; echo '{"id":1,"result":{"sessionId":"s"}}'; ${script}`],
      cwd: '/',
      env: { ADDED: 'added', EXEC_SERVER_TEST_TAKEN: undefined },
    });
    expect(await client.closed).toBe('the server ended with code 3: / kept  added');
  });
});

describe('the end of the server', () => {
  test('tells its code and the end of its stderr, and fails what was asked with them', async () => {
    const { target } = answering('read line; echo "the disk is full" >&2; exit 7');
    const { client } = await connect(target);
    await expect(client.call('environment/info', null)).rejects.toThrow(
      /^exec-server transport disconnected: the server ended with code 7: pid \d+\nthe disk is full$/,
    );
  });

  test('keeps the last 2000 characters of stderr', async () => {
    const { target } = answering('head -c 5000 /dev/zero | tr "\\0" x >&2; exit 1');
    const { client } = await connect(target);
    expect(await client.closed).toBe(`the server ended with code 1: ${'x'.repeat(2000)}`);
  });

  test('by a signal', async () => {
    const { target } = answering('kill -9 $$');
    const { client } = await connect({ ...target, stderr: 'inherit', command: withoutPid(target) });
    expect(await client.closed).toBe('the server ended by SIGKILL');
  });

  test('takes what it left in its group with it', async () => {
    const { target, pid } = answering('sleep 600 & echo "left $!" >&2; exit 0');
    const { client } = await connect(target);
    const [, left] = /left (\d+)/.exec((await client.closed) ?? '') ?? [];
    expect(Number(left)).not.toBe(await pid);
    await waitForProcessGone(Number(left));
  });
});

function withoutPid({ command }: StdioTarget): string[] {
  return command.map((word) => word.replace('echo "pid $$" >&2; ', ''));
}

describe('the server ends', () => {
  test('with SIGKILL, two seconds after a SIGTERM that it ignores', async () => {
    const { target, pid } = answering('trap "" TERM; while :; do sleep 1; done');
    const { client } = await connect(target);
    client.close();
    expect(await client.closed).toBeUndefined();
    await waitForProcessGone(await pid);
  });

  test('when it does not answer the handshake', async () => {
    const { target, pid } = shellServer('sleep 600');
    const dialer = createStdioDialer(target, {});
    const transport = await dialer.dial(never);
    await pid;
    const connecting = WireClient.connect(transport, { ...options, initializeTimeoutMs: 20 });
    await expect(connecting).rejects.toMatchObject({ code: 'call_timeout' });
    await waitForProcessGone(await pid);
  });

  test('after a message that makes no sense, and that is the reason', async () => {
    const { target, pid } = answering('echo "no json"; sleep 600');
    const { client } = await connect(target);
    expect(await client.closed).toContain('failed to parse JSON-RPC message from exec-server stdio');
    await waitForProcessGone(await pid);
  });

  test('with the dialer', async () => {
    const { target, pid } = answering('sleep 600');
    const { client, dialer } = await connect(target);
    await dialer.close();
    await waitForProcessGone(await pid);
    expect(await client.closed).toMatch('the server ended by SIGTERM');
  });

  test('when the program that started it does', async () => {
    const program = new SpawnedCommand({
      command: [
        process.execPath,
        '--input-type=module',
        '-e',
        `import { connect } from '@exec-server/client';
         await connect({
           command: ['/bin/sh', '-c', 'echo $$ >&2; read l; echo \\'{"id":1,"result":{"sessionId":"s"}}\\'; sleep 600'],
           stderr: 'inherit',
         });
         process.exit(0);`,
      ],
      cwd: fileURLToPath(new URL('.', import.meta.url)),
    });
    expect(await program.exited).toEqual({ code: 0, signal: null });
    await waitForProcessGone(Number(program.stderr()));
  });
});

test('a program that is not there is connect_failed', async () => {
  const dialer = createStdioDialer({ command: ['/no/such/program'] }, {});
  await expect(dialer.dial(never)).rejects.toMatchObject({
    code: 'connect_failed',
    message: 'failed to connect to exec-server at stdio:/no/such/program: spawn /no/such/program ENOENT',
    cause: { code: 'ENOENT' },
    retryable: false,
  });
});

test('each connection has a server of its own', async () => {
  const { target } = answering('exit 0');
  const { dialer, client } = await connect(target);
  await client.closed;
  const second = await WireClient.connect(await dialer.dial(never), options);
  expect(await second.closed).toMatch('the server ended with code 0');
});

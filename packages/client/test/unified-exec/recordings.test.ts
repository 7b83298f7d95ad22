import { describe, expect, test } from 'vitest';
import { endedReply, normalize, openUnifiedExec } from '../support/unified-exec.js';

/** Replies that the reference gave to the same calls. */

const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, at) => `${from + at}\n`).join('');

/** The limit of the recorded model. */
const MODEL_LIMIT_BYTES = 10_000;

async function reply(args: object, options: object = {}): Promise<string> {
  const { exec } = await openUnifiedExec({ outputLimitBytes: MODEL_LIMIT_BYTES, ...options });
  return normalize(await exec.callTool('exec_command', JSON.stringify(args)));
}

describe('basics', () => {
  test('stdout, stderr and the exit code', async () => {
    const text = await reply({ cmd: 'echo hello; echo err >&2; exit 3' });
    // Two pipes: which is read first is not said.
    const orders = ['hello\nerr\n', 'err\nhello\n'];
    expect(orders.map((output) => endedReply(3, 3, output))).toContain(text);
  });

  test('the variables that make output plain', async () => {
    const cmd =
      'env | grep -E "^(NO_COLOR|TERM|LANG|LC_|COLORTERM|PAGER|GIT_PAGER|GH_PAGER|CODEX_CI)" | sort';
    const shown =
      'CODEX_CI=1\nCOLORTERM=\nGH_PAGER=cat\nGIT_PAGER=cat\nLANG=C.UTF-8\nLC_ALL=C.UTF-8\nLC_CTYPE=C.UTF-8\nNO_COLOR=1\nPAGER=cat\nTERM=dumb\n';
    expect(await reply({ cmd })).toBe(endedReply(0, Math.ceil(shown.length / 4), shown));
  });

  test('a terminal of 24 by 80', async () => {
    const text = await reply({ cmd: 'pwd; tty; stty size', tty: true, workdir: '/' });
    expect(text.replace(/\/dev\/pts\/\d+/, '/dev/pts/10')).toBe(
      endedReply(0, 6, '/\r\n/dev/pts/10\r\n24 80\r\n'),
    );
  });

  test('nothing', async () => {
    expect(await reply({ cmd: '' })).toBe(endedReply(0, 0, ''));
  });

  test('a signal', async () => {
    expect(await reply({ cmd: 'kill -9 $$' })).toBe(endedReply(137, 0, ''));
  });

  test('a directory that is not there', async () => {
    expect(await reply({ cmd: 'pwd', workdir: 'no-such-dir' }, { cwd: '/tmp' })).toBe(
      'exec_command failed: CreateProcess { message: "Rejected(\\"Failed to create unified exec process: No such file or directory (os error 2)\\")" }',
    );
  });

  test('a login shell where that is not allowed', async () => {
    expect(await reply({ cmd: 'true', login: true })).toBe(
      'login shell is disabled by config; omit `login` or set it to false.',
    );
  });

  test('a login shell, and none', async () => {
    const cmd = 'shopt login_shell; echo "[$0]"';
    const options = { shell: '/bin/bash', allowLoginShell: true };
    expect(await reply({ cmd }, options)).toContain('login_shell    \ton\n[/bin/bash]\n');
    expect(await reply({ cmd, login: false }, options)).toContain('login_shell    \toff\n[/bin/bash]\n');
  });
});

describe('arguments', () => {
  test.each([
    [{ cmd: 'true', yield_time_ms: 'soon' }, 'invalid type: string "soon", expected u64'],
    [{ yield_time_ms: 250 }, 'missing field `cmd`'],
    [{ cmd: 'true', tty: null }, 'invalid type: null, expected a boolean'],
  ])('%j', async (args, problem) => {
    expect(await reply(args)).toBe(`failed to parse function arguments: ${problem}`);
  });
});

describe('truncation', () => {
  const warning = (tokens: number, second: string) =>
    `Warning: truncated output (original token count: ${tokens})\n${second}\n\n`;

  test.each([
    ['20 tokens', 20, `${numbers(1, 16)}1…153 tokens truncated…${numbers(191, 200)}`],
    ['none', 0, '…173 tokens truncated…'],
  ])('seq 1 200 at %s', async (_, max_output_tokens, shown) => {
    expect(await reply({ cmd: 'seq 1 200', max_output_tokens })).toBe(
      endedReply(0, 173, warning(173, 'Total output lines: 200') + shown),
    );
  });

  test.each([
    ['within the limit of the call', 2499, '1221\n…39725 tokens truncated…29168\n'],
    ['at the limit of the model', 2500, '1221\n12…158894 chars truncated…7\n29168\n'],
    ['beyond it', 2501, '1221\n12…158894 chars truncated…7\n29168\n'],
  ])('seq 1 30000 %s', async (_, max_output_tokens, middle) => {
    const text = await reply({ cmd: 'seq 1 30000', max_output_tokens });
    const head = endedReply(0, 42_224, `${warning(42_224, 'Total output lines: 30000')}1\n2\n3\n`);
    expect(text.startsWith(head)).toBe(true);
    expect(text).toContain(middle);
    expect(text.endsWith('\n29999\n30000\n')).toBe(true);
  });

  test('more than is retained', async () => {
    const cmd = "head -c 3000000 /dev/zero | tr '\\0' a";
    const half = 'a'.repeat(200);
    expect(await reply({ cmd, max_output_tokens: 100 })).toBe(
      endedReply(
        0,
        750_000,
        `${warning(750_000, '... 1951424 bytes omitted ...')}${half}…262052 tokens truncated…${half}`,
      ),
    );
  });

  test('more than is retained, within all limits', async () => {
    const cmd = "head -c 1048577 /dev/zero | tr '\\0' a";
    const half = 'a'.repeat(524_288);
    const text = await reply({ cmd, max_output_tokens: 1_000_000 }, { outputLimitBytes: 4_000_000 });
    expect(text === endedReply(0, 262_145, `${half}\n... 1 bytes omitted ...\n${half}`)).toBe(true);
  });

  test.each([
    ["printf 'a'; for i in $(seq 100); do printf 'é'; done", 5, 51, 1, 'aéééé…46 tokens truncated…ééééé'],
    ["for i in $(seq 100); do printf '€'; done", 5, 75, 1, '€€€…70 tokens truncated…€€€'],
    ["printf 'a\\nb\\nc'", 1, 2, 3, 'a\n…1 tokens truncated…\nc'],
    ["printf 'a\\n\\n'; seq 1 50", 3, 36, 52, 'a\n\n1\n2…33 tokens truncated…49\n50\n'],
  ])('whole characters: %s', async (cmd, max_output_tokens, tokens, lines, shown) => {
    expect(await reply({ cmd, max_output_tokens })).toBe(
      endedReply(0, tokens, warning(tokens, `Total output lines: ${lines}`) + shown),
    );
  });

  test('characters are counted where the limit is of the model', async () => {
    const text = await reply({ cmd: "for i in $(seq 10000); do printf '€'; done" });
    expect(text).toContain(`${'€'.repeat(1666)}…6668 chars truncated…${'€'.repeat(1666)}`);
  });

  test('bytes that are no text', async () => {
    const cmd = "printf '\\377\\377\\377\\377\\377\\377\\377\\377'";
    expect(await reply({ cmd, max_output_tokens: 3 })).toBe(
      endedReply(0, 2, `${warning(6, 'Total output lines: 1')}��…3 tokens truncated…��`),
    );
    expect(await reply({ cmd: "printf 'x\\377y\\303'" })).toBe(endedReply(0, 1, 'x�y�'));
  });

  test('a whole reply is within 1.2 times the limit of the model', async () => {
    const warned = warning(173, 'Total output lines: 200');
    const cmd = 'seq 1 200';
    const small = { outputLimitBytes: 200 };
    expect(await reply({ cmd, max_output_tokens: 1_000_000 }, small)).toBe(
      endedReply(0, 173, `${warned}${numbers(1, 8)}…660 chars truncated…${numbers(197, 200)}`),
    );
    expect(await reply({ cmd, max_output_tokens: 10 }, small)).toBe(
      endedReply(0, 173, `${warned}${numbers(1, 7)}…166 tokens truncated…7\n${numbers(198, 200)}`),
    );
    const { exec } = await openUnifiedExec({ outputLimitBytes: 40 });
    expect(await exec.callTool('exec_command', { cmd })).toMatch(
      /^Chunk ID: [0-9a-f]{6}\nWall ti…40 tokens truncated…692 chars truncated…$/,
    );
  });
});

import { describe, expect, it } from 'vitest';
import { parseAppRecording } from './app-recording.js';

const STARTED = {
  event: 'server-started',
  args: ['app-server', '--listen', 'ws://127.0.0.1:0'],
  stdout: 'ws://127.0.0.1:$PORT\n',
};

function read(...lines: object[]): unknown[] {
  const content = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  return parseAppRecording('none', content).map(({ line }) => line);
}

function readMessage(msg: object, extra: object = {}): unknown {
  const [, line] = read({ conn: 'a', dir: 's2c', msg, ...extra }) as { msg: unknown }[];
  return line?.msg;
}

describe('notes', () => {
  it.each([
    ['connection a opened', { event: 'open', conn: 'a', path: '/' }],
    ['connection a closed: code=1006 reason=gone', { event: 'close', conn: 'a', code: 1006, reason: 'gone' }],
    ['stdin closed by the client', { event: 'stdin-eof' }],
    ['write f', { event: 'note', text: 'write f' }],
    [
      '--x: exit=1 stderr="Error: y\\n\\nStack backtrace:\\n 0: z"',
      { event: 'note', text: '--x: exit=1 stderr="Error: y"' },
    ],
  ])('%s', (text, line) => {
    expect(read({ dir: 'note', text })).toEqual([STARTED, line]);
  });
});

describe('messages', () => {
  it('have placeholders as the other recordings have them', () => {
    expect(readMessage({ id: 1, result: { path: '<CWD>/f', home: '<CODEX_HOME>' } })).toEqual({
      id: 1,
      result: { path: '$CWD/f', home: '$CODEX_HOME' },
    });
  });

  it('get back what was cut or fixed', () => {
    const zeros = { deltaBase64: 'AAAA...<10924 base64 chars>' };
    expect(readMessage({ method: 'm', params: zeros, emittedAtMs: 0 }, { bytes: 8192 })).toEqual({
      method: 'm',
      params: { deltaBase64: Buffer.alloc(8192).toString('base64') },
      emittedAtMs: '$MS',
    });
    expect(readMessage({ id: 1, result: { stdout: 'xxx...<5 chars>', modifiedAtMs: 17 } })).toEqual({
      id: 1,
      result: { stdout: 'xxxxx', modifiedAtMs: '$MS' },
    });
  });

  it('about the recorded machine are left out', () => {
    expect(read({ conn: 'a', dir: 's2c', msg: { method: 'configWarning', params: {} } })).toEqual([]);
  });

  it('that tell of the same files one after the other are one', () => {
    const changed = { conn: 'a', dir: 's2c', msg: { method: 'fs/changed', params: { watchId: 'w' } } };
    const answer = { conn: 'a', dir: 's2c', msg: { id: 1, result: {} } };
    expect(read(changed, changed, answer, answer, changed)).toHaveLength(5);
  });

  it('that were no JSON are sent as lines', () => {
    expect(read({ conn: 'stdio', dir: 'c2s-raw', msg: 'not json' })).toEqual([
      { dir: 'c2s', conn: 'stdio', raw: 'not json\n' },
    ]);
  });
});

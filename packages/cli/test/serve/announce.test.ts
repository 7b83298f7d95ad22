import { expect, it } from 'vitest';
import { announce } from '../../src/serve/announce.js';
import { TextSink } from '../support.js';

function announced(urls: string[], needsToken = false) {
  const io = { stdout: new TextSink(), stderr: new TextSink() };
  announce(io, { urls, needsToken });
  return { stdout: io.stdout.text, stderr: io.stderr.text };
}

it('names every address on stdout alone, and on stderr first', () => {
  const { stdout, stderr } = announced(['ws://127.0.0.1:1', 'unix:///x']);
  expect(stdout).toBe('ws://127.0.0.1:1\nunix:///x\n');
  expect(stderr.split('\n')).toEqual([
    'exec-server listening on ws://127.0.0.1:1',
    'exec-server listening on unix:///x',
    'connect a client to ws://127.0.0.1:1, for one with CODEX_EXEC_SERVER_URL=ws://127.0.0.1:1 codex; Ctrl-C ends the server',
    '',
  ]);
});

it('leaves stdout to the client of stdio', () => {
  expect(announced(['stdio'])).toEqual({ stdout: '', stderr: '' });
  const { stdout, stderr } = announced(['stdio', 'ws://127.0.0.1:1']);
  expect(stdout).toBe('');
  expect(stderr).toMatch(/^exec-server listening on ws:\/\/127\.0\.0\.1:1\n/);
});

it('says that a token is needed', () => {
  expect(announced(['ws://127.0.0.1:1'], true).stderr).toContain('Authorization: Bearer TOKEN');
});

import { expect, test } from 'vitest';
import { requireProgram, type SkippableTest } from '../src/require-program.js';

class Skipped extends Error {}

const context: SkippableTest = {
  task: { name: 'draws a terminal' },
  skip: (note) => {
    throw new Skipped(note);
  },
};

test('gives the path of a program that is there', () => {
  expect(requireProgram('sh', context, { env: { PATH: '/nowhere:/bin' } })).toBe('/bin/sh');
});

test('skips with a visible line where it is absent', () => {
  const lines: string[] = [];
  const options = { env: { PATH: '/nowhere' }, write: (line: string) => void lines.push(line) };
  expect(() => requireProgram('tmux', context, options)).toThrow(Skipped);
  expect(lines).toEqual(['SKIPPED: draws a terminal needs tmux\n']);
});

test('fails under CI', () => {
  const options = { env: { PATH: '/nowhere', CI: 'true' } };
  expect(() => requireProgram('tmux', context, options)).toThrow(
    'draws a terminal needs tmux, and it is not installed',
  );
});

test('an empty CI variable is none', () => {
  const options = { env: { PATH: '', CI: '' }, write: () => {} };
  expect(() => requireProgram('tmux', context, options)).toThrow(Skipped);
});

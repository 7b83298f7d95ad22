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
  expect(requireProgram('sh', context, { PATH: '/nowhere:/bin' })).toBe('/bin/sh');
});

test('skips with the reason where it is absent', () => {
  expect(() => requireProgram('tmux', context, { PATH: '/nowhere' })).toThrow(new Skipped('needs tmux'));
});

test('fails under CI', () => {
  expect(() => requireProgram('tmux', context, { PATH: '/nowhere', CI: 'true' })).toThrow(
    'draws a terminal needs tmux, and it is not installed',
  );
});

test('skips under CI what the run hides, and only that', () => {
  const env = { PATH: '/nowhere', CI: 'true', TEST_HIDDEN: 'tmux,cc' };
  expect(() => requireProgram('tmux', context, env)).toThrow(new Skipped('needs tmux'));
  expect(() => requireProgram('c', context, env)).toThrow('needs c, and it is not installed');
});

test('an empty CI variable is none', () => {
  expect(() => requireProgram('tmux', context, { PATH: '', CI: '' })).toThrow(Skipped);
});

import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import {
  listSubdirectories,
  listSystemDirectory,
  readSystemFile,
  readSystemLine,
  unlessHidden,
  writeSystemFile,
} from '../../src/native/system-files.js';
import { asNobody, requireRoot } from '../support/cgroups.js';

const buffer = Buffer.alloc(64);
/** A number that no process has any more. */
const gone = spawnSync('/bin/true').pid;

it('says of what is gone that it is', () => {
  expect(readSystemFile(`/proc/${gone}/status`)).toBeNull();
  expect(readSystemLine(`/proc/${gone}/stat`, buffer)).toBeNull();
  expect(listSystemDirectory(`/proc/${gone}/task`)).toBeNull();
  expect(listSubdirectories(`/proc/${gone}/task`)).toBeNull();
  expect(writeSystemFile(`/proc/${gone}/oom_score_adj`, '0')).toBe(false);
});

it('reads and writes what is there', () => {
  expect(readSystemFile('/proc/self/comm')).toMatch(/\n$/);
  expect(readSystemLine('/proc/self/stat', buffer)).toMatch(new RegExp(`^${process.pid} `));
  expect(listSystemDirectory('/proc/self/task')).toContain(String(process.pid));
  expect(listSubdirectories('/proc/self')).toContain('task');
  expect(listSubdirectories('/proc/self')).not.toContain('stat');
  expect(writeSystemFile('/proc/self/oom_score_adj', readSystemFile('/proc/self/oom_score_adj')!)).toBe(true);
});

it('does not take what it cannot look at for gone', () => {
  expect(() => readSystemFile('/proc/self/task')).toThrow('EISDIR');
  expect(() => readSystemLine('/proc/self/task', buffer)).toThrow('EISDIR');
  expect(() => listSystemDirectory('/proc/self/stat')).toThrow('ENOTDIR');
});

it('passes over what is hidden where many are looked at, and says so of one', (test) => {
  requireRoot(test);
  asNobody(() => {
    expect(listSystemDirectory('/proc/1/fd')).toBeNull();
    expect(readSystemFile('/proc/1/environ')).toBeNull();
    expect(() => readSystemLine('/proc/1/environ', buffer)).toThrow('EACCES');
    expect(unlessHidden(() => readSystemLine('/proc/1/environ', buffer))).toBeNull();
  });
});

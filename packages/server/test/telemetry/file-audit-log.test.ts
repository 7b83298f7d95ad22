import { spawnSync } from 'node:child_process';
import { lstatSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { AuditEvent } from '../../src/telemetry/audit.js';
import { createFileAuditLog } from '../../src/telemetry/file-audit-log.js';
import { type Logger, silentLogger } from '../../src/telemetry/logger.js';

let directory: string;
let path: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'audit-'));
  path = join(directory, 'audit.jsonl');
});
afterEach(() => rmSync(directory, { recursive: true }));

const started: AuditEvent = {
  event: 'process-started',
  principal: { kind: 'signed-token', subject: 'ada' },
  remote: '127.0.0.1:5',
  sessionId: 's',
  processId: 'p',
  pid: 7,
  argv: ['sh', '-c', 'echo "a\nb"\u001b[2J\u009b2J'],
  cwd: '/tmp',
  tty: false,
};

const lines = (file = path) => readFileSync(file, 'utf8').trimEnd().split('\n');

it('appends a line per event, with its time, and escapes what a command line carries', () => {
  writeFileSync(path, '{"older":true}\n');
  const log = createFileAuditLog(path);
  log.record(started);
  log.record({ ...started, event: 'process-refused', reason: 'no' });
  const [older, first = '', second = ''] = lines();
  expect(older).toBe('{"older":true}');
  const { time, ...event } = JSON.parse(first);
  expect(event).toEqual(started);
  expect(new Date(time).toISOString()).toBe(time);
  expect(first).toContain('a\\nb\\"\\u001b[2J\\u009b2J');
  expect(JSON.parse(second)).toMatchObject({ event: 'process-refused', reason: 'no' });
  expect(lines()).toHaveLength(3);
});

it('shows what turns text around or hides it, whoever said it', () => {
  const log = createFileAuditLog(path);
  const argv = ['rm', '\u202etxt.exe', 'a\u2066b\u2069', '\u200b', '\u{e0041}'];
  const principal = { kind: 'signed-token', subject: 'ad\u200ea' } as const;
  log.record({ ...started, argv, principal, cwd: '/tmp/\u202d', processId: '\u061c' });
  const [line = ''] = lines();
  expect(line).toMatch(/^[\x20-\x7e]+$/);
  expect(line).toContain('"\\u202etxt.exe","a\\u2066b\\u2069","\\u200b","\\udb40\\udc41"');
  expect(JSON.parse(line)).toMatchObject({ argv, principal, cwd: '/tmp/\u202d', processId: '\u061c' });
});

it('creates its file for its user only, before the first event', () => {
  createFileAuditLog(path);
  expect(lstatSync(path)).toMatchObject({ size: 0 });
  expect(lstatSync(path).mode & 0o777).toBe(0o600);
});

it('starts a new file when its own was moved away', () => {
  const log = createFileAuditLog(path);
  log.record(started);
  renameSync(path, `${path}.1`);
  log.record(started);
  expect(lines(`${path}.1`)).toHaveLength(1);
  expect(lines()).toHaveLength(1);
});

it('refuses a file that cannot be opened', () => {
  expect(() => createFileAuditLog(join(directory, 'missing', 'x'))).toThrow(
    expect.objectContaining({
      name: 'AuditLogError',
      message: expect.stringMatching(/^cannot write the audit log .*ENOENT/),
    }),
  );
});

it('throws for every event it cannot write, and tells the log once each way', () => {
  const told: string[] = [];
  const tell = (_: object, message: string) => void told.push(message);
  const logger: Logger = { ...silentLogger, info: tell, error: tell };
  const log = createFileAuditLog(path, { logger });
  rmSync(path);
  mkdirSync(path);
  expect(() => log.record(started)).toThrow(expect.objectContaining({ name: 'AuditLogError' }));
  expect(() => log.record(started)).toThrow(expect.objectContaining({ name: 'AuditLogError' }));
  expect(told).toEqual(['the audit log cannot be written']);
  rmSync(path, { recursive: true });
  log.record(started);
  log.record(started);
  expect(told).toEqual(['the audit log cannot be written', 'the audit log can be written again']);
  expect(lines()).toHaveLength(2);
});

it('does not wait for the reader of a FIFO', () => {
  spawnSync('mkfifo', [path]);
  expect(() => createFileAuditLog(path)).toThrow(expect.objectContaining({ name: 'AuditLogError' }));
});

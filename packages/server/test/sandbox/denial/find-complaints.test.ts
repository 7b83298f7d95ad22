import { takesTooLong } from '@exec-server/testing';
import { expect, it } from 'vitest';
import { findComplaints as findAll } from '../../../src/sandbox/denial/find-complaints.js';

const findComplaints = (text: string) => [...findAll(text)];

it.each([
  ['/bin/sh: 1: cannot create ../outside: Read-only file system', ['../outside']],
  ["touch: cannot touch 'a b': Read-only file system", ['a b']],
  ['cat: secret/key: Permission denied', ['secret/key']],
  ["OSError: [Errno 30] Read-only file system: '/etc/x'", ['/etc/x']],
  ["Error: EROFS: read-only file system, open '/etc/x'", ['/etc/x']],
  ['open /etc/x: operation not permitted', ['/etc/x']],
  ['OSError: a:b: [Errno 30] Read-only file system', ['a:b']],
  ['x:   error 13   Permission denied', ['x']],
  ['mv: cannot move ‘a’ to ‘/b’: Read-only file system\r', ['a', '/b']],
])('finds the path of: %s', (line, expected) => {
  const paths = findComplaints(line).map((complaint) =>
    complaint.about === 'path' ? complaint.path : 'network',
  );
  expect(paths).toEqual(expect.arrayContaining(expected));
});

it.each([
  'curl: (6) Could not resolve host: example.com',
  "curl: (7) Failed to connect to 10.0.0.1 port 80 after 0 ms: Couldn't connect to server",
  'ping: socket: Operation not permitted',
  'Temporary failure in name resolution',
  'Error: getaddrinfo EAI_AGAIN example.com',
  'dial tcp 10.0.0.1:80: connect: network is unreachable',
  'Connecting to 10.0.0.1:80... failed: Operation not permitted.',
  'urllib.error.URLError: <urlopen error [Errno 1] Operation not permitted>',
  'Error: connect EPERM 10.0.0.1:80 - Local (undefined:undefined)',
])('knows that it is about the network: %s', (line) => {
  expect(findComplaints(line)).toEqual([{ about: 'network' }]);
});

it.each(['', 'all is well', 'Permission denied', 'no such file: /etc/x', 'Read-only file system'])(
  'finds nothing in: %s',
  (line) => {
    expect(findComplaints(line)).toEqual([]);
  },
);

it('finds a line among others', () => {
  expect(findComplaints('one\ntwo: Permission denied\nthree')).toEqual([{ about: 'path', path: 'two' }]);
});

it('reads a trace of nothing', () => {
  expect(findComplaints('\n  socket: EPERM')).toEqual([{ about: 'network' }]);
  expect(findComplaints('\n  x: EPERM')).toEqual([{ about: 'path', path: 'x' }]);
});

it('reads the end of a trace together with what it ends', () => {
  const trace = (source: string) => [
    'Traceback (most recent call last):',
    '  File "/usr/lib/python3.11/module.py", line 232, in __init__',
    `    ${source}`,
    'PermissionError: [Errno 1] Operation not permitted',
  ];
  const ofSocket = trace('_socket.socket.__init__(self, family, type, proto, fileno)').join('\n');
  expect(findComplaints(ofSocket)).toEqual([{ about: 'network' }]);
  expect(findComplaints(trace('os.setpriority(0, 0, -1)').join('\n'))).not.toContainEqual({
    about: 'network',
  });
});

it.each([
  (length: number) => `${'a'.repeat(length)}permission denied`,
  (length: number) => `${'a:'.repeat(length / 2)} permission denied`,
  (length: number) => `x${' '.repeat(length)}permission denied`,
  (length: number) => `x: [Errno ${'1'.repeat(length)}] permission denied`,
  (length: number) => `‘${'‘'.repeat(length)}permission denied`,
  (length: number) => `${'socket '.repeat(length / 7)}operation not permitte`,
  (length: number) => `${'=/a'.repeat(length / 3)}permission denied`,
  (length: number) => '\n'.repeat(length),
  (length: number) => '  socket\nEPERM\n'.repeat(length / 15),
])('takes time in proportion to the output: %s', (worst) => {
  expect(takesTooLong(findComplaints, worst(100_000))).toBe(false);
});

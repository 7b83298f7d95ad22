import { expect, it } from 'vitest';
import { LAST_RESULT, planHandover, words } from '../../../src/sandbox/bubblewrap/entry-calls.js';

/** Keeps bytes where an entry program would have them, from address 1000 on. */
function openMemory() {
  const memory = Buffer.alloc(1_000);
  let end = 0;
  return {
    place: (bytes: Buffer) => {
      bytes.copy(memory, end);
      end += bytes.length;
      return 1_000 + end - bytes.length;
    },
    at: (address: number | bigint, length: number) =>
      memory.subarray(Number(address) - 1_000).subarray(0, length),
  };
}

it.each([
  ['x64', [41, 292, 49, 50, 46]],
  ['arm64', [198, 24, 200, 201, 211]],
] as const)('makes, numbers and binds each socket, and hands all over: %s', (architecture, numbers) => {
  const [socket, dup3, bind, listen, sendmsg] = numbers;
  const memory = openMemory();
  const calls = planHandover(
    architecture,
    {
      sockets: [
        { kind: 'stream', port: 3128, as: 7 },
        { kind: 'datagram', port: 1080, as: 8 },
      ],
      doorFd: 9,
    },
    memory.place,
  );
  expect(calls.map(([number, first]) => [number, first])).toEqual([
    [socket, 2],
    [dup3, LAST_RESULT],
    [bind, 7],
    [listen, 7],
    [socket, 2],
    [dup3, LAST_RESULT],
    [bind, 8],
    [sendmsg, 9],
  ]);
  const [, , address, length] = calls[2] ?? [];
  expect([...memory.at(address ?? 0, length ?? 0)]).toEqual([
    2, 0, 0x0c, 0x38, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0,
  ]);

  const message = memory.at(calls.at(-1)?.[2] ?? 0, 56);
  const control = memory.at(message.readBigUInt64LE(32), Number(message.readBigUInt64LE(40)));
  expect(Number(control.readBigUInt64LE(0))).toBe(16 + 8);
  // SOL_SOCKET, SCM_RIGHTS, and the two.
  expect([8, 12, 16, 20].map((at) => control.readInt32LE(at))).toEqual([1, 1, 7, 8]);
});

it('writes numbers as processors have them', () => {
  expect([...words([1, LAST_RESULT])]).toEqual([1, 0, 0, 0, 0, 0, 0, 0, ...Array<number>(8).fill(0xff)]);
});

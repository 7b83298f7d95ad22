import { expect, it } from 'vitest';
import { writeTable } from '../../src/client/table.js';
import { FakeIo } from '../support.js';

interface Animal {
  readonly name: string;
  readonly legs: number;
}

const ANIMALS: readonly Animal[] = [
  { name: 'cat', legs: 4 },
  { name: 'centipede\u001b[2J', legs: 354 },
];

function draw({ isTTY = false, columns = 80, env = {} as Record<string, string> } = {}): string {
  const io = new FakeIo();
  Object.assign(io.stdout, { isTTY, columns: isTTY ? columns : undefined });
  Object.assign(io.env, env);
  writeTable<Animal>(
    io,
    [
      { title: 'LEGS', value: ({ legs }) => String(legs), align: 'right', style: () => 'green' },
      { title: 'NAME', value: ({ name }) => name },
    ],
    ANIMALS,
  );
  return io.stdout.text;
}

it('lays out columns, and shows what would be an order to the terminal', () => {
  expect(draw()).toBe('LEGS  NAME\n   4  cat\n 354  centipede\\x1b[2J\n');
});

it('is no wider than the terminal', () => {
  const lines = draw({ isTTY: true, columns: 14, env: { NO_COLOR: '1' } }).split('\n');
  expect(lines).toEqual(['LEGS  NAME', '   4  cat', ' 354  centipe…', '']);
});

it('has colours on a terminal only, and not where they are not wanted', () => {
  expect(draw({ isTTY: true })).toContain('\u001b[32m4\u001b[39m');
  for (const env of [{ NO_COLOR: '1' }, { TERM: 'dumb' }])
    expect(draw({ isTTY: true, env })).not.toContain('\u001b');
});

import { expect, it } from 'vitest';
import { HeldDestination } from '../../src/serve/held-destination.js';

it('holds lines back until it is released, and keeps their order', () => {
  const lines: string[] = [];
  const held = new HeldDestination({ write: (line) => lines.push(line) });
  held.write('a');
  held.write('b');
  expect(lines).toEqual([]);
  held.release();
  held.write('c');
  held.release();
  expect(lines).toEqual(['a', 'b', 'c']);
});

import { expect, test } from 'vitest';
import { CharacterMixer } from '../../src/process/character-mixer.js';

const bytes = (text: string) => new TextEncoder().encode(text);

test('the beginning of a character waits for its end', () => {
  const mixer = new CharacterMixer();
  const euro = bytes('€');
  expect(mixer.take('stdout', Uint8Array.of(...bytes('a'), ...euro.subarray(0, 2)))).toEqual(bytes('a'));
  expect(mixer.take('stderr', bytes('between'))).toEqual(bytes('between'));
  expect(mixer.take('stdout', Uint8Array.of(...euro.subarray(2), ...bytes('b')))).toEqual(bytes('€b'));
  expect(mixer.flush()).toEqual([]);
});

test('what never gets its end is there at the end, once', () => {
  const mixer = new CharacterMixer();
  const cut = bytes('é').subarray(0, 1);
  expect(mixer.take('stdout', cut)).toEqual(new Uint8Array(0));
  expect(mixer.take('stderr', cut)).toEqual(new Uint8Array(0));
  expect(mixer.flush()).toEqual([cut, cut]);
  expect(mixer.flush()).toEqual([]);
});

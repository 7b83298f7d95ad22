import { readdirSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { descriptorReserve, RESERVED_DESCRIPTORS } from '../../src/native/descriptor-reserve.js';

const count = () => readdirSync('/proc/self/fd').length;

/** An error as Node throws it. */
const failure = (code: string) => Object.assign(new Error(code), { code });

/** A call that finds no descriptor until so many more are free than when it was made, and says how often it was made. */
function needing(descriptors: number, code = 'EMFILE') {
  const before = count();
  const call = () => {
    call.times += 1;
    if (before - count() < descriptors) throw failure(code);
    return 'done';
  };
  call.times = 0;
  return call;
}

function hold(): () => void {
  const release = descriptorReserve.hold();
  onTestFinished(release);
  return release;
}

describe('the reserve of descriptors', () => {
  it('is held for as long as somebody holds it', () => {
    const before = count();
    const first = hold();
    const second = hold();
    expect(count() - before).toBe(RESERVED_DESCRIPTORS);
    first();
    first();
    expect(count() - before).toBe(RESERVED_DESCRIPTORS);
    second();
    expect(count()).toBe(before);
  });

  it('is not touched by a call that succeeds, or fails for another reason', () => {
    hold();
    expect(descriptorReserve.use(needing(0))).toBe('done');
    const denied = needing(1, 'EACCES');
    expect(() => descriptorReserve.use(denied)).toThrow('EACCES');
    expect(denied.times).toBe(1);
  });

  it.each([RESERVED_DESCRIPTORS - 1, RESERVED_DESCRIPTORS])('serves a call that needs %i', (needed) => {
    hold();
    const before = count();
    expect(descriptorReserve.use(needing(needed))).toBe('done');
    expect(descriptorReserve.use(needing(needed, 'ENFILE'))).toBe('done');
    expect(count()).toBe(before);
  });

  it('passes on the failure of a call that needs one more than it has, and is whole again', () => {
    hold();
    const before = count();
    const call = needing(RESERVED_DESCRIPTORS + 1);
    expect(() => descriptorReserve.use(call)).toThrow('EMFILE');
    expect(call.times).toBe(RESERVED_DESCRIPTORS + 1);
    expect(count()).toBe(before);
  });

  it('has nothing for anybody when nobody holds it', () => {
    const call = needing(1);
    expect(() => descriptorReserve.use(call)).toThrow('EMFILE');
    expect(call.times).toBe(1);
  });
});

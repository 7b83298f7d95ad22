/*
 * The filters that the kernel runs on system calls are programs of the classic Berkeley Packet Filter, which see the
 * number of the call, the processor, and the arguments.
 */

/** One instruction. Jumps count from the next one. */
export interface Instruction {
  readonly code: number;
  readonly ifTrue?: number;
  readonly ifFalse?: number;
  readonly operand: number;
}

const LOAD_WORD = 0x20;
const JUMP_IF_EQUAL = 0x15;
const JUMP_IF_AT_LEAST = 0x35;
const JUMP_IF_ANY_BIT = 0x45;
const RETURN = 0x06;
const INSTRUCTION_BYTES = 8;

/** Where in what the filter sees the number of the call is, the processor's name, and the low half of an argument. */
export const CALL_NUMBER = 0;
export const PROCESSOR = 4;
export const argument = (index: number): number => 16 + index * 8;

export function load(offset: number): Instruction {
  return { code: LOAD_WORD, operand: offset };
}

export function finish(verdict: number): Instruction {
  return { code: RETURN, operand: verdict };
}

/** Runs `steps` if the loaded word is `value`, and goes on behind them if not. */
export function whenEqual(value: number, steps: readonly Instruction[]): Instruction[] {
  return [{ code: JUMP_IF_EQUAL, ifFalse: steps.length, operand: value }, ...steps];
}

export function unlessEqual(value: number, steps: readonly Instruction[]): Instruction[] {
  return [{ code: JUMP_IF_EQUAL, ifTrue: steps.length, operand: value }, ...steps];
}

export function whenAtLeast(value: number, steps: readonly Instruction[]): Instruction[] {
  return [{ code: JUMP_IF_AT_LEAST, ifFalse: steps.length, operand: value }, ...steps];
}

export function whenAnyBit(mask: number, steps: readonly Instruction[]): Instruction[] {
  return [{ code: JUMP_IF_ANY_BIT, ifFalse: steps.length, operand: mask }, ...steps];
}

/** The program as the kernel takes it. */
export function encode(instructions: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(instructions.length * INSTRUCTION_BYTES);
  instructions.forEach(({ code, ifTrue = 0, ifFalse = 0, operand }, index) => {
    const at = index * INSTRUCTION_BYTES;
    bytes.writeUInt16LE(code, at);
    bytes.writeUInt8(ifTrue, at + 2);
    bytes.writeUInt8(ifFalse, at + 3);
    bytes.writeUInt32LE(operand >>> 0, at + 4);
  });
  return bytes;
}

import type * as z from 'zod/mini';
import { checkedText, type IntegerKind, integer as integerOf } from '../fields.js';

/** An integer. Errors name the value and the kind that was meant. */
export function integer(kind: IntegerKind, meaning?: string): z.ZodMiniNumber {
  return integerOf(kind, meaning, (value) => `${describeMisfit(value)}, expected ${kind}`);
}

function describeMisfit(value: number): string {
  return isWireInteger(value)
    ? `invalid value: integer \`${value}\``
    : `invalid type: ${describeNumber(value)}`;
}

/** Names a number in an error by its value. */
export function describeNumber(value: number): string {
  return `${isWireInteger(value) ? 'integer' : 'floating point'} \`${value}\``;
}

/** Whether the reference reads a number as an integer: beyond 64 bits it becomes a fraction. */
function isWireInteger(value: number): boolean {
  return Number.isInteger(value) && value >= -(2 ** 63) && value < 2 ** 64;
}

/** A native path; a relative one counts from the server's own directory. */
export function nativePath(meaning: string): z.ZodMiniString {
  return checkedText(() => undefined, { description: meaning }, 'path string');
}

/** A native path that begins at the root. */
export function absolutePath(meaning: string): z.ZodMiniString {
  return checkedText(checkAbsolute, { description: meaning }, 'path string');
}

function checkAbsolute(path: string): string | undefined {
  return path.startsWith('/') ? undefined : 'AbsolutePathBuf deserialized without a base path';
}

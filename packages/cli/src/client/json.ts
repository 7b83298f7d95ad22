import type { CommandIo } from '../command-io.js';
import { toPrintableJson } from './printable.js';

const INDENT = 2;

/** Writes one value for programs, laid out so that people can read it, too. */
export function writeJson(io: Pick<CommandIo, 'stdout'>, value: unknown): void {
  io.stdout.write(`${toPrintableJson(JSON.stringify(value, undefined, INDENT))}\n`);
}

/** One value on one line, for output that goes on. */
export function toJsonLine(value: unknown): string {
  return `${toPrintableJson(JSON.stringify(value))}\n`;
}

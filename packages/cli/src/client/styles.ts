import type { CommandIo, OutputStream } from '../command-io.js';

/** Codes that begin and end each style on a terminal. */
const CODES = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
} as const;

export type StyleName = keyof typeof CODES;

/** Sets words off for people. */
export type Style = (name: StyleName, text: string) => string;

/** Colours for a terminal, unless `NO_COLOR` is set or the terminal is dumb; elsewhere text stays as it is. */
export function styleFor(stream: OutputStream, env: CommandIo['env']): Style {
  if (stream.isTTY !== true || env.NO_COLOR || env.TERM === 'dumb') return (_, text) => text;
  return (name, text) => `\u001b[${CODES[name][0]}m${text}\u001b[${CODES[name][1]}m`;
}

import { readFileSync } from 'node:fs';
import { unenforceable } from '../policy/policy-error.js';

/** The helper in one file, which the build makes; sources that run as they are take the build's. */
const PLACES = ['./file-helper.cjs', '../../../dist/sandbox/files/file-helper.cjs'];

/** The descriptor that a helper gets its own code by: no path in the sandbox has it. */
export const CODE_FD = 3;

/** Runs the code that comes by the descriptor. */
export const BOOT_SCRIPT = [
  `const { closeSync, readFileSync } = require('node:fs');`,
  `const code = readFileSync(${CODE_FD}, 'utf8');`,
  `closeSync(${CODE_FD});`,
  `require('node:vm').compileFunction(code, ['require'], { filename: 'file-helper.cjs' })(require);`,
].join('');

let code: Buffer | undefined;

/** The code of the helper. Throws `PolicyError` where it was not built. */
export function readHelperCode(): Buffer {
  code ??= PLACES.map(tryRead).find((found) => found !== undefined);
  if (code === undefined)
    throw unenforceable('the helper for files, file-helper.cjs, is missing from this installation');
  return code;
}

function tryRead(place: string): Buffer | undefined {
  try {
    return readFileSync(new URL(place, import.meta.url));
  } catch {
    return undefined;
  }
}

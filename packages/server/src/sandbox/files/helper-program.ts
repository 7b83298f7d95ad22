import { unenforceable } from '../policy/policy-error.js';
import { readFileHelper } from './read-file-helper.js';

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
  code ??= readFileHelper();
  if (code === undefined)
    throw unenforceable('the helper for files, file-helper.cjs, is missing from this installation');
  return code;
}

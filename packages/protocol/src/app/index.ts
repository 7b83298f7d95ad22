export * from './command.js';
export * from './config.js';
export { decodeParams } from './decode.js';
export { absolutePath, integer, nativePath } from './fields.js';
export * from './fs.js';
export * from './initialize.js';
export * from './process.js';
export * from './sandbox-policy.js';

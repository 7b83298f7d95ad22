export * from './command.js';
export * from './config.js';
export { decodeParams } from './decode.js';
export * from './fs.js';
export * from './initialize.js';
export * from './methods.js';
export * from './process.js';
export * from './sandbox-policy.js';

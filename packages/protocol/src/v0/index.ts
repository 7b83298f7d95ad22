export * from './command.js';
export * from './methods.js';

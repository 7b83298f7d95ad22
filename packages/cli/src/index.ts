export { type CommandIo, createProcessIo } from './command-io.js';
export { runCommandLine } from './run-command-line.js';

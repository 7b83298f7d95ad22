export * from '../sdk.js';
export { connect, createDialer } from './connect.js';
export {
  type Context,
  type Contexts,
  contextsPath,
  findContext,
  isContextName,
  readContexts,
  writeContexts,
} from './contexts.js';
export type { CopyOptions, CopyProgress, CopySummary } from './fs-copy-options.js';
export type { NodeFileSystem } from './node-file-system.js';
export type { NodeMachine } from './node-machine.js';

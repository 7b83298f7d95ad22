export type { Clock } from '../clock.js';
export type { ExecCommandArgs, WriteStdinArgs } from './arguments.js';
export { UnifiedExecError } from './errors.js';
export type {
  BeginEvent,
  EndEvent,
  OutputDeltaEvent,
  TerminalInteractionEvent,
  UnifiedExecEvent,
} from './events.js';
export type { UnifiedExecCallOptions, UnifiedExecClient, UnifiedExecOptions } from './options.js';
export { type StructuredReply, toStructuredReply, type UnifiedExecReply } from './reply.js';
export { type ToolDefinition, UNIFIED_EXEC_TOOLS } from './tool-definitions.js';
export { createUnifiedExec, UnifiedExec, type UnifiedExecSession } from './unified-exec.js';

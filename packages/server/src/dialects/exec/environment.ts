import type { EnvironmentInfo } from '@exec-server/protocol';
import type { HandlerContext } from '../dialect.js';

export function readEnvironmentInfo(_params: unknown, { engine }: HandlerContext): EnvironmentInfo {
  return engine.environmentInfo;
}

export function readEnvironmentStatus(): { status: 'ready' } {
  return { status: 'ready' };
}

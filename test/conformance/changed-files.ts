import { isDeepStrictEqual } from 'node:util';
import type { WireMessage } from '@exec-server/testing';

/** Whether `message` tells of the same files as one before it: how often they are told of is a matter of time. */
export function isRepeatedChange(message: WireMessage, received: readonly WireMessage[]): boolean {
  if (message.method !== 'fs/changed') return false;
  const first = received.find(
    ({ method, params }) => method === message.method && isDeepStrictEqual(params, message.params),
  );
  return first !== message;
}

/**
 * The notification without files below one that was recorded: whether those in a directory that is made anew are named
 * beside it depends on how soon the server looks into it.
 */
export function dropFilesBelow(recorded: WireMessage, message: WireMessage): WireMessage {
  const [expected, actual] = [recorded.params?.changedPaths, message.params?.changedPaths];
  if (!Array.isArray(expected) || !Array.isArray(actual)) return message;
  const changedPaths = (actual as string[]).filter(
    (path) => !(expected as string[]).some((above) => path.startsWith(`${above}/`)),
  );
  return { ...message, params: { ...message.params, changedPaths } };
}

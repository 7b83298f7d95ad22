import { invalidParams, invalidRequest, type RpcError, type SandboxContext } from '@exec-server/protocol';
import type { FileAccess } from '../../../connection/file-order.js';
import type { ProcessEngine } from '../../../process/process-engine.js';
import { allowsAllFiles, allowsAllReads, type FilePolicy } from '../../../sandbox/policy/policy.js';
import { PolicyError } from '../../../sandbox/policy/policy-error.js';
import { resolvePolicy } from '../../../sandbox/policy/resolve-policy.js';

/**
 * What a sandbox context takes away from an operation on files; nothing when the server can do it itself. Throws an
 * {@link RpcError} for a context that means nothing here.
 */
export function findFileLimits(
  sandbox: SandboxContext | null | undefined,
  access: FileAccess,
  { serverEnv }: Pick<ProcessEngine, 'serverEnv'>,
): FilePolicy | undefined {
  if (!sandbox) return undefined;
  const temporaryDirectories = serverEnv.TMPDIR ? [serverEnv.TMPDIR] : [];
  const { files } = explainPolicy(() => resolvePolicy(sandbox, { temporaryDirectories }));
  if (files === 'unrestricted') return undefined;
  return (access === 'reads' ? allowsAllReads(files) : allowsAllFiles(files)) ? undefined : files;
}

function explainPolicy<T>(resolve: () => T): T {
  try {
    return resolve();
  } catch (error) {
    throw error instanceof PolicyError ? policyErrorToRpc(error) : error;
  }
}

/** The answer for a policy that cannot be kept. */
export function policyErrorToRpc({ failure, message }: PolicyError): RpcError {
  return failure === 'foreign-path' ? invalidRequest(message) : invalidParams(message);
}

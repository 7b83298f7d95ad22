import { platform } from 'node:process';
import { ErrorCode, type ErrorData, RpcError, type SandboxContext } from '@exec-server/protocol';
import type { FileAccess } from '../../../connection/file-order.js';
import { type Known, whenKnown } from '../../../loop-turn.js';
import type { ProcessEngine } from '../../../process/process-engine.js';
import {
  allowsAllFiles,
  allowsAllReads,
  isOpen,
  type ResolvedPolicy,
  simplifyFor,
} from '../../../sandbox/policy/policy.js';
import { PolicyError } from '../../../sandbox/policy/policy-error.js';
import { resolvePolicy } from '../../../sandbox/policy/resolve-policy.js';

/**
 * What a sandbox context leaves to an operation on files; nothing when the server can do it itself. It cannot where
 * programs are confined, even if every file may be read: `/proc` shows the server what it does not show them. Known at once
 * unless the context has very many rules. Throws or rejects with an {@link RpcError} for a context that means nothing here.
 */
export function findFileLimits(
  sandbox: SandboxContext | null | undefined,
  access: FileAccess,
  { serverEnv }: Pick<ProcessEngine, 'serverEnv'>,
): Known<ResolvedPolicy['files'] | undefined> {
  if (!sandbox) return undefined;
  const temporaryDirectories = serverEnv.TMPDIR ? [serverEnv.TMPDIR] : [];
  return whenKnown(
    explainPolicy(() => resolvePolicy(sandbox, { temporaryDirectories })),
    (policy) => {
      if (isOpen(policy)) return undefined;
      const { files } = policy;
      // Nobody is confined there, and there is no `/proc`.
      if (platform !== 'linux' && (access === 'reads' ? allowsAllReads(files) : allowsAllFiles(files)))
        return undefined;
      return simplifyFor(access, files);
    },
  );
}

function explainPolicy<T>(resolve: () => Known<T>): Known<T> {
  const explain = (error: unknown): never => {
    throw error instanceof PolicyError ? policyErrorToRpc(error) : error;
  };
  try {
    const policy = resolve();
    return policy instanceof Promise ? policy.catch(explain) : policy;
  } catch (error) {
    return explain(error);
  }
}

/** The answer for a policy that cannot be kept; the policy's error is its cause. */
export function policyErrorToRpc(error: PolicyError): RpcError {
  const isForeign = error.failure === 'foreign-path';
  const data: ErrorData = { code: isForeign ? 'foreign_path' : 'sandbox_refused' };
  return new RpcError(isForeign ? ErrorCode.invalidRequest : ErrorCode.invalidParams, error.message, {
    cause: error,
    data,
  });
}

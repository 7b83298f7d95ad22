import { internalError, type SandboxContext } from '@exec-server/protocol';
import type { FileAccess } from '../../../connection/file-order.js';
import { whenKnown } from '../../../loop-turn.js';
import { OsError } from '../../../os-error.js';
import type { ResolvedPolicy } from '../../../sandbox/policy/policy.js';
import { PolicyError } from '../../../sandbox/policy/policy-error.js';
import { EncodedResponse, type HandlerContext } from '../../dialect.js';
import { restoreContent } from '../../file-content.js';
import { spawnFailure } from '../../os-failure.js';
import { findFileLimits, policyErrorToRpc } from './file-limits.js';
import type { HelperMethod } from './helper-methods.js';

/** What the server does with files under a policy. */
export interface ConfinedCall {
  readonly files: ResolvedPolicy['files'];
  readonly access: FileAccess;
  readonly method: HelperMethod;
  readonly params: unknown;
}

type Handler = (params: unknown, context: HandlerContext) => unknown;

/** Lets a method of the wire be answered by a helper where its sandbox context takes anything away from it. */
export function confineHandler(
  method: HelperMethod,
  findAccess: (params: never) => FileAccess,
  handle: Handler,
): Handler {
  return (params, context) => {
    const { sandbox, ...rest } = params as { readonly sandbox?: SandboxContext | null };
    const access = findAccess(params as never);
    return whenKnown(findFileLimits(sandbox, access, context.engine), (files) =>
      files === undefined
        ? handle(params, context)
        : runConfined({ files, access, method, params: restoreContent(rest, context.content) }, context),
    );
  };
}

/** Has a method answered inside of a sandbox. Throws an `RpcError`. */
export async function runConfined(
  { files, access, method, params }: ConfinedCall,
  { engine, session, requestId, signal }: Pick<HandlerContext, 'engine' | 'session' | 'requestId' | 'signal'>,
): Promise<unknown> {
  const use = { principal: session.principal, requestId, signal };
  const answer = await explainSandbox(engine.fileSandboxes.run(files, access, { method, params }, use));
  return answer.kind === 'result' ? answer.value : new EncodedResponse(answer.line, answer.onFree);
}

/** Awaits something that happens in a sandbox and says in the words of the wire why there is none. */
export async function explainSandbox<T>(operation: Promise<T>): Promise<T> {
  try {
    return await operation;
  } catch (error) {
    if (error instanceof PolicyError) throw policyErrorToRpc(error);
    if (error instanceof OsError)
      throw internalError(
        `failed to start the file system sandbox: ${error.message}`,
        ...spawnFailure(error),
      );
    throw error;
  }
}

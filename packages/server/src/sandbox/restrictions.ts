import type { SandboxContext } from '@exec-server/protocol';

/**
 * Says what a sandbox context takes away from a program, or nothing when it takes nothing. A server that cannot take
 * it away must refuse the request: running it open would be a lie.
 */
export function findRestriction(context: SandboxContext | null | undefined): string | undefined {
  if (context?.permissions.type === 'managed' && context.permissions.network !== 'enabled')
    return 'restricted network';
  return findFileRestriction(context);
}

/** The same for an operation on files, which has no use for the network. */
export function findFileRestriction(context: SandboxContext | null | undefined): string | undefined {
  const permissions = context?.permissions;
  // `external` says that somebody else confines the program already.
  if (permissions?.type !== 'managed') return undefined;
  const files = permissions.file_system;
  if (files.type === 'unrestricted') return undefined;
  const grantsRoot = files.entries.some(
    ({ path, access }) => access === 'write' && path.type === 'special' && path.value.kind === 'root',
  );
  const onlyGrants = files.entries.every(({ access }) => access === 'write');
  return grantsRoot && onlyGrants ? undefined : 'restricted file system';
}

import { readdirSync } from 'node:fs';
import { toCString, toCStringArray } from './c-strings.js';
import { DescriptorScope, duplicateDescriptor, F_SETFD, FD_CLOEXEC } from './descriptors.js';
import type { LaunchPlan } from './launch.js';
import { checkErrno, type Libc } from './libc.js';

/** What the child's descriptors 0, 1 and 2 are; carried out in this order, in the child, after it has its session. */
export type StdioAction =
  | { readonly kind: 'duplicate'; readonly fd: number; readonly as: 0 | 1 | 2 }
  | { readonly kind: 'open'; readonly path: string; readonly flags: number; readonly as: 0 | 1 | 2 };

export interface SpawnRequest
  extends Pick<LaunchPlan, 'program' | 'argv' | 'cwd' | 'env' | 'extraDescriptors'> {
  readonly stdio: readonly StdioAction[];
}

// Opaque C objects; glibc needs 336 and 80 bytes, musl as many, and 128 for a signal set.
const ATTRIBUTES_BYTES = 512;
const ACTIONS_BYTES = 512;
const SIGNAL_SET_BYTES = 128;

const POSIX_SPAWN_SETSIGDEF = 0x04;
const POSIX_SPAWN_SETSIGMASK = 0x08;
const POSIX_SPAWN_SETSID = 0x80;

let sharedAttributes: Uint8Array | undefined;

/**
 * Starts a child as leader of its own session with exactly the descriptors of the request, and returns its pid. Throws
 * `OsError` with the child's errno when a directory, a descriptor or the program cannot be used.
 */
export function spawnProcess(libc: Libc, request: SpawnRequest): number {
  const program = toCString(request.program, 'posix_spawn');
  const argv = toCStringArray(libc, request.argv, 'posix_spawn');
  const env = toCStringArray(libc, Array.from(request.env, formatVariable), 'posix_spawn');
  const cwd = toCString(request.cwd, 'posix_spawn');
  sharedAttributes ??= createAttributes(libc);

  const scope = new DescriptorScope(libc);
  const actions = Buffer.alloc(ACTIONS_BYTES);
  checkErrno(libc.posix_spawn_file_actions_init(actions), 'posix_spawn_file_actions_init');
  try {
    for (const action of request.stdio) addStdio(libc, actions, action);
    addExtraDescriptors(libc, actions, request.extraDescriptors, scope);
    checkErrno(
      libc.posix_spawn_file_actions_addchdir_np(actions, cwd),
      'posix_spawn_file_actions_addchdir_np',
    );
    const pid = new Int32Array(1);
    checkErrno(libc.posix_spawn(pid, program, actions, sharedAttributes, argv, env), 'posix_spawn');
    return pid[0]!;
  } finally {
    libc.posix_spawn_file_actions_destroy(actions);
    scope.closeAll();
  }
}

function formatVariable([name, value]: readonly [string, string]): string {
  return `${name}=${value}`;
}

/** Node ignores SIGPIPE and a parent may have blocked or ignored anything; a child starts with neither. */
function createAttributes(libc: Libc): Uint8Array {
  const attributes = Buffer.alloc(ATTRIBUTES_BYTES);
  // Every bit by hand: `sigfillset` of glibc leaves out the two signals that it uses itself, and `posix_spawn` then
  // starts the child with those ignored.
  const all = Buffer.alloc(SIGNAL_SET_BYTES, 0xff);
  const none = Buffer.alloc(SIGNAL_SET_BYTES);
  checkErrno(libc.posix_spawnattr_init(attributes), 'posix_spawnattr_init');
  checkErrno(libc.posix_spawnattr_setsigdefault(attributes, all), 'posix_spawnattr_setsigdefault');
  checkErrno(libc.posix_spawnattr_setsigmask(attributes, none), 'posix_spawnattr_setsigmask');
  const flags = POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK;
  checkErrno(libc.posix_spawnattr_setflags(attributes, flags), 'posix_spawnattr_setflags');
  return attributes;
}

function addStdio(libc: Libc, actions: Uint8Array, action: StdioAction): void {
  if (action.kind === 'duplicate') {
    const { fd, as } = action;
    checkErrno(libc.posix_spawn_file_actions_adddup2(actions, fd, as), 'posix_spawn_file_actions_adddup2');
    return;
  }
  const path = toCString(action.path, 'posix_spawn');
  checkErrno(
    libc.posix_spawn_file_actions_addopen(actions, action.as, path, action.flags, 0),
    'posix_spawn_file_actions_addopen',
  );
}

function addExtraDescriptors(
  libc: Libc,
  actions: Uint8Array,
  extra: LaunchPlan['extraDescriptors'],
  scope: DescriptorScope,
): void {
  const targets = new Set(extra.map(({ as }) => as));
  const highest = Math.max(2, ...targets);
  for (const { fd, as } of extra) {
    // A copy above every target: no target can then overwrite a source that a later action still needs.
    const source = scope.own(duplicateDescriptor(libc, fd, highest + 1));
    checkErrno(
      libc.posix_spawn_file_actions_adddup2(actions, source, as),
      'posix_spawn_file_actions_adddup2',
    );
  }
  if (libc.addClosefrom === null) {
    markOwnDescriptors(libc);
    return;
  }
  for (let fd = 3; fd < highest; fd += 1) {
    if (targets.has(fd)) continue;
    checkErrno(libc.posix_spawn_file_actions_addclose(actions, fd), 'posix_spawn_file_actions_addclose');
  }
  checkErrno(libc.addClosefrom(actions, highest + 1), 'posix_spawn_file_actions_addclosefrom_np');
}

/** Covers descriptors that this process inherited without close-on-exec; its own ones have it from the start. */
function markOwnDescriptors(libc: Libc): void {
  for (const name of readdirSync('/proc/self/fd')) {
    const fd = Number(name);
    // The listing names the descriptor of the listing itself, which is closed by now.
    if (fd > 2) libc.fcntl(fd, F_SETFD, FD_CLOEXEC);
  }
}

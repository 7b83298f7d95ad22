import { statfs } from 'node:fs/promises';
import { callSystem, ENOENT, ENOTDIR, unlessErrno } from '../file-error.js';
import { parentPath } from '../native-path.js';

/** The kind of `/proc`. */
export const PROC_KIND = 0x9fa0;

/**
 * Kinds of file systems that change without telling this machine: others write to them, or the kernel makes them up as
 * they are read.
 */
const SILENT_KINDS: ReadonlySet<number> = new Set([
  0x6969, // nfs
  0xff53_4d42, // cifs
  0xfe53_4d42, // smb2
  0x517b, // smb
  0x6573_5546, // fuse
  0x0102_1997, // 9p
  0x00c3_6400, // ceph
  0x7375_7245, // coda
  0x5346_414f, // afs
  0x0bd0_0bd0, // lustre
  0x4750_4653, // gpfs
  PROC_KIND,
  0x6265_6572, // sysfs
  0x0027_e0eb, // cgroup
  0x6367_7270, // cgroup2
  0x6462_6720, // debugfs
  0x7472_6163, // tracefs
]);

/**
 * Whether changes at `path` are seen by watches; for one that may be missing, those at the directory that it would be
 * made in. Throws an `OsError`.
 */
export async function reportsChanges(
  path: Uint8Array,
  { mayBeMissing = false }: { readonly mayBeMissing?: boolean | undefined } = {},
): Promise<boolean> {
  const found = await (mayBeMissing
    ? unlessErrno(statfs(Buffer.from(path)), ENOENT, ENOTDIR)
    : callSystem(statfs(Buffer.from(path))));
  if (found === undefined) return reportsChanges(parentPath(path), { mayBeMissing });
  const { type } = found;
  // The number is signed on some architectures.
  return process.platform !== 'linux' || !SILENT_KINDS.has(type >>> 0);
}

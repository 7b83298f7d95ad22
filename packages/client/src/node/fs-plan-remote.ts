import { type FoundEntry, walkTree } from '../fs/directory.js';
import { explainFailure } from '../fs/file-system-error.js';
import { readLinkStats } from '../fs/metadata.js';
import { toNativeText } from '../fs/remote-path.js';
import { requireCapability } from '../require-capability.js';
import { runConcurrently } from '../run-concurrently.js';
import type { SessionClient } from '../session-client.js';
import { usageError } from '../usage.js';
import type { CopyPlan, PlannedDirectory, PlannedFile, PlannedLink } from './fs-plan.js';

/** Most entries that are looked at at once. */
const MAX_LOOKS_AT_ONCE = 16;

const PERMISSION_BITS = 0o7777;

/** Looks at a file, a link or a tree on the server's machine. */
export async function planRemote(
  client: SessionClient,
  uri: string,
  signal: AbortSignal | undefined,
): Promise<CopyPlan> {
  const plan = new RemotePlan(client);
  const root = await readLinkStats(client, uri, 'copyOut', signal);
  if (root.type === 'other') throw usageError(`neither file, directory nor link: ${toNativeText(uri)}`);
  await plan.add({ uri, relativePath: '', path: toNativeText(uri), type: root.type }, signal);
  if (root.type !== 'directory') return plan;
  // Links that look like what they lead to would be followed, in circles if need be.
  await requireCapability(client, 'fsListBroken');
  const found: FoundEntry[] = [];
  for await (const entry of walkTree(client, uri, 'copyOut', signal && { signal })) found.push(entry);
  await runConcurrently(found, { atOnce: MAX_LOOKS_AT_ONCE, signal }, (entry, lookSignal) =>
    plan.add(entry, lookSignal),
  );
  return plan;
}

class RemotePlan implements CopyPlan {
  readonly directories: PlannedDirectory[] = [];
  readonly files: PlannedFile[] = [];
  readonly links: PlannedLink[] = [];
  readonly skipped: string[] = [];

  constructor(private readonly client: SessionClient) {}

  async add(entry: Omit<FoundEntry, 'entry'>, signal: AbortSignal | undefined): Promise<void> {
    const { uri, path } = entry;
    const relativePath = Buffer.from(entry.relativePath);
    if (entry.type === 'other') {
      this.skipped.push(path);
    } else if (entry.type === 'symlink') {
      await requireCapability(this.client, 'fsLinks');
      const call = this.client.call(
        'fs/readLink',
        { path: uri },
        { resend: true, ...(signal && { signal }) },
      );
      const { target } = await explainFailure(call, { operation: 'copyOut', path });
      this.links.push({ relativePath, target });
    } else {
      const { size, mode: fullMode } = await readLinkStats(this.client, uri, 'copyOut', signal);
      const mode = fullMode === undefined ? undefined : fullMode & PERMISSION_BITS;
      if (entry.type === 'directory') this.directories.push({ relativePath, mode });
      else this.files.push({ relativePath, mode, size });
    }
  }
}

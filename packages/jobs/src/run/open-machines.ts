import { readFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { type ConnectOptions, connect, ExecServerError, type NodeMachine } from '@exec-server/client';
import { JobError, messageOf } from '../errors.js';
import { DEFAULT_SERVER_COMMAND, findServer, startServer } from '../local-server/start-server.js';
import { SCHEMA_FILE } from '../results/submit-report.js';
import { type PlaceFiles, reportedDirectory } from '../results/work-place.js';
import type { JobSettings, MachineSettings } from '../store/job-settings.js';
import type { StoredJob } from '../store/stored-job.js';
import { localFiles, watchLocally } from './local-files.js';
import type { MachineLink } from './machine-link.js';

/** Names the job's own server in the journal. */
const LOCAL_MACHINE = 'local';
/** How long a machine may be out of reach before its workers count as lost, in milliseconds. */
const LOST_AFTER_MS = 30_000;
const CLIENT_NAME = 'exec-server-job';

/** How machines are reached. */
export interface ReachOptions {
  readonly serverCommand?: readonly string[];
  readonly lostAfterMs?: number;
}

/** Connects to the machines of a job. Rejects with `JobError` where one cannot be reached. */
export async function openMachines(job: StoredJob, options: ReachOptions): Promise<MachineLink[]> {
  const { settings } = job;
  const links: MachineLink[] = [];
  try {
    if (settings.machines.length === 0) links.push(await openLocal(job, options));
    for (const machine of settings.machines) links.push(await openRemote(job, machine, options));
    await Promise.all(links.map((link) => prepareRoot(link, settings)));
    return links;
  } catch (error) {
    await closeMachines(links);
    throw error;
  }
}

export async function closeMachines(links: readonly MachineLink[]): Promise<void> {
  await Promise.allSettled(links.map(({ machine }) => machine.close()));
}

async function openLocal(job: StoredJob, options: ReachOptions): Promise<MachineLink> {
  const { settings, files } = job;
  const running = await findServer(files);
  const { url } =
    running ?? (await startServer(files, options.serverCommand ?? DEFAULT_SERVER_COMMAND, settings.cwd));
  const session = running === undefined ? undefined : findSession(job, LOCAL_MACHINE);
  return {
    name: LOCAL_MACHINE,
    machine: await openSession(url, toOptions({}, options), session),
    keepsEnds: true,
    slots: settings.concurrency,
    files: localFiles,
    root: files.work,
    cwd: pathToFileURL(settings.cwd ?? process.cwd()).href,
    watch: watchLocally,
  };
}

async function openRemote(
  job: StoredJob,
  place: MachineSettings,
  options: ReachOptions,
): Promise<MachineLink> {
  const { settings } = job;
  const machine = await openSession(
    place.url,
    toOptions(await toDialOptions(place), options),
    findSession(job, place.name),
  );
  const { cwd, userHomeDir, tempDir } = await machine.environment();
  const files: PlaceFiles = {
    mkdir: (path, options) => machine.fs.mkdir(path, options),
    writeFile: (path, data) => machine.fs.writeFile(path, data),
    readFile: (path, encoding) => machine.fs.readFile(path, encoding),
    symlink: (target, path) => machine.fs.symlink(target, path),
    rm: (path, options) => machine.fs.rm(path, options),
  };
  const temporary = tempDir === undefined || tempDir === null ? '/tmp' : new URL(tempDir).pathname;
  return {
    name: place.name,
    machine,
    // Other servers forget what has ended after a while, which may be over.
    keepsEnds: await machine.client.supports('processRemove'),
    slots: place.slots ?? settings.concurrency,
    files,
    root: `${decodeURIComponent(temporary)}/exec-server-job-${settings.id}`,
    cwd: settings.cwd === undefined ? (cwd ?? userHomeDir ?? 'file:///') : pathToFileURL(settings.cwd).href,
    watch: (directory, onChange) => watchRemotely(machine, directory, onChange),
  };
}

async function toDialOptions({ tokenFile, tlsCaFile }: MachineSettings): Promise<ConnectOptions> {
  const token =
    tokenFile === undefined ? process.env.EXEC_SERVER_TOKEN : (await readFile(tokenFile, 'utf8')).trim();
  return {
    ...(token ? { token } : {}),
    ...(tlsCaFile !== undefined && { tls: { ca: await readFile(tlsCaFile, 'utf8') } }),
  };
}

function toOptions(
  dialOptions: ConnectOptions,
  { lostAfterMs = LOST_AFTER_MS }: ReachOptions,
): ConnectOptions {
  return { ...dialOptions, clientName: CLIENT_NAME, reconnect: { deadlineMs: lostAfterMs } };
}

/** The session that the newest worker of a machine was started in. */
function findSession({ state }: StoredJob, machine: string): string | undefined {
  let newest: { readonly session: string; readonly at: number } | undefined;
  for (const { start } of state.items)
    if (start?.machine === machine && (newest === undefined || start.at >= newest.at)) newest = start;
  return newest?.session;
}

/** Goes on with an earlier session, so that its workers are ours; where that is gone, a new one. */
async function openSession(
  url: string,
  options: ConnectOptions,
  session: string | undefined,
): Promise<NodeMachine> {
  if (session !== undefined && session !== '') {
    try {
      return await connect(url, { ...options, resumeSessionId: session });
    } catch (error) {
      if (!(error instanceof ExecServerError) || error.code === 'connection_lost') throw describe(url, error);
    }
  }
  try {
    return await connect(url, options);
  } catch (error) {
    throw describe(url, error);
  }
}

function describe(url: string, error: unknown): JobError {
  return new JobError('server', `the server at ${url} cannot be reached: ${messageOf(error)}`, {
    cause: error,
  });
}

async function prepareRoot({ files, root }: MachineLink, { schema }: JobSettings): Promise<void> {
  await files.mkdir(reportedDirectory(root), { recursive: true });
  if (schema !== undefined) await files.writeFile(`${root}/${SCHEMA_FILE}`, JSON.stringify(schema));
}

function watchRemotely(
  machine: NodeMachine,
  directory: string,
  onChange: (name?: string) => void,
): () => void {
  const controller = new AbortController();
  const follow = async () => {
    for await (const { type, path } of machine.fs.watch(directory, { signal: controller.signal }))
      onChange(type === 'overflow' ? undefined : path.slice(path.lastIndexOf('/') + 1));
  };
  // Without the connection the worker is lost, which is told elsewhere.
  follow().catch(() => {});
  return () => controller.abort();
}

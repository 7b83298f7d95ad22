// Starts the servers that are compared and reads what they cost from /proc.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { findCodex } from '../../scripts/fetch-codex.mjs';
import { LeanClient } from './lean-client.mjs';
import { openLineWire, openWebSocketWire } from './wires.mjs';

const OWN_COMMAND = fileURLToPath(new URL('../../packages/cli/bin/exec-server.js', import.meta.url));

/** Ticks of the kernel's CPU accounting per second, the same on every Linux that Node runs on. */
const CLOCK_TICKS_PER_SECOND = 100;
const GIVE_UP_MS = 20_000;

/** What is compared: `ours` and `reference`, each with the command that serves `--listen` addresses. */
export async function listSystems() {
  const codex = await findNativeCodex();
  return {
    ours: { argv: [process.execPath, OWN_COMMAND, 'serve'] },
    reference: { argv: [codex, 'exec-server'] },
  };
}

/** The npm package's command is a script that starts a binary; the binary is what is measured. */
async function findNativeCodex() {
  const command = await findCodex();
  const native = join(command, '../../@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex');
  try {
    readFileSync(native, { flag: 'r', length: 1 });
    return native;
  } catch {
    return command;
  }
}

/** A home for one server. The reference makes no sandboxes from one among the temporary files. */
function makeHome() {
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'exec-server');
  mkdirSync(cache, { recursive: true });
  return mkdtempSync(join(cache, 'bench-'));
}

/** A running server with one client. */
export class RunningServer {
  #child;
  #home;
  /** Address of a WebSocket server. */
  url;
  client;

  /** @param {'ws' | 'stdio'} transport */
  static async start({ argv }, transport, initialize = {}) {
    const server = new RunningServer();
    const listen = transport === 'ws' ? 'ws://127.0.0.1:0' : 'stdio';
    const [program, ...args] = argv;
    server.#home = makeHome();
    const child = spawn(program, [...args, '--listen', listen], {
      stdio: ['pipe', 'pipe', 'ignore'],
      env: { ...process.env, CODEX_HOME: server.#home },
    });
    server.#child = child;
    // Also when the measurement fails half-way.
    process.once('exit', () => child.kill('SIGKILL'));
    child.stdin.on('error', () => {});
    if (transport === 'ws') {
      server.url = await firstLine(child);
      server.client = await server.connect(initialize);
    } else {
      server.client = new LeanClient(openLineWire(child));
      await server.client.initialize(initialize);
    }
    return server;
  }

  get pid() {
    return this.#child.pid;
  }

  /** One more client, over a WebSocket. */
  async connect(initialize = {}) {
    const client = new LeanClient(await openWebSocketWire(this.url));
    await client.initialize(initialize);
    return client;
  }

  /** CPU time of the server alone, in seconds, all its threads, without its children. */
  cpuSeconds() {
    const stat = readFileSync(`/proc/${this.pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS_PER_SECOND;
  }

  /** Memory of the server, in KiB: resident now, and the most it has been. */
  memory() {
    const status = readFileSync(`/proc/${this.pid}/status`, 'latin1');
    const read = (name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1]);
    return { rssKib: read('VmRSS'), peakKib: read('VmHWM') };
  }

  async stop() {
    this.client.close();
    const gone = new Promise((resolve) => this.#child.once('exit', resolve));
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      this.#child.kill('SIGTERM');
      const force = setTimeout(() => this.#child.kill('SIGKILL'), 5000);
      await gone;
      clearTimeout(force);
    }
    rmSync(this.#home, { recursive: true, force: true });
  }
}

/** The first line of a server's stdout: its address. */
async function firstLine(child) {
  const lines = createInterface({ input: child.stdout });
  const giveUp = setTimeout(() => child.kill('SIGKILL'), GIVE_UP_MS);
  try {
    for await (const line of lines) return line.trim();
  } finally {
    clearTimeout(giveUp);
    child.stdout.resume();
  }
  throw new Error('the server ended before it told its address');
}

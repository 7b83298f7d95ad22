// Starts the servers that are compared and reads what they cost from /proc.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { findCodex } from '../../scripts/fetch-codex.mjs';
import { LeanClient } from './lean-client.mjs';
import { makeHome, ownChild, removeDirectory } from './leftovers.mjs';
import { withinLimit } from './parts.mjs';
import { killLeftovers, listDescendants, readStatFields } from './process-tree.mjs';
import { openLineWire, openWebSocketWire } from './wires.mjs';

const OWN_COMMAND = fileURLToPath(new URL('../../packages/cli/bin/exec-server.js', import.meta.url));

/** Ticks of the kernel's CPU accounting per second, the same on every Linux that Node runs on. */
const CLOCK_TICKS_PER_SECOND = 100;
/** Longest time until a server that was started answers. */
const START_LIMIT_MS = 20_000;
/** How long a server may take to end when it is asked to; then it is killed. */
const STOP_LIMIT_MS = 5000;

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
  return existsSync(native) ? native : command;
}

/** Those that were started and not stopped. */
const running = new Set();

/** `NODE_EXTRA_CA_CERTS` alone has every start of Node parse more than a hundred certificates, for tens of milliseconds. */
function withoutNodeSettings(env) {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('NODE_')));
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
    server.#child = ownChild(
      spawn(program, [...args, '--listen', listen], {
        stdio: ['pipe', 'pipe', 'ignore'],
        env: { ...withoutNodeSettings(process.env), CODEX_HOME: server.#home },
      }),
    );
    server.#child.stdin.on('error', () => {});
    running.add(server);
    try {
      await withinLimit(server.#greet(transport, initialize), START_LIMIT_MS);
    } catch (error) {
      await server.stop();
      throw new Error(`${program} did not start: ${error.message}`);
    }
    return server;
  }

  /** Ends every server that still runs. */
  static async stopAll() {
    for (const server of running) await server.stop();
  }

  async #greet(transport, initialize) {
    if (transport === 'ws') {
      this.url = await firstLine(this.#child);
      this.client = await this.connect(initialize);
    } else {
      this.client = new LeanClient(openLineWire(this.#child));
      await this.client.initialize(initialize);
    }
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
    const fields = readStatFields(this.pid);
    return (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS_PER_SECOND;
  }

  /** Memory of the server, in KiB: resident now, and the most it has been. */
  memory() {
    const status = readFileSync(`/proc/${this.pid}/status`, 'latin1');
    const read = (name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1]);
    return { rssKib: read('VmRSS'), peakKib: read('VmHWM') };
  }

  async stop() {
    if (!running.delete(this)) return;
    this.client?.close();
    const descendants = listDescendants(this.pid);
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      const gone = new Promise((resolve) => this.#child.once('exit', resolve));
      this.#child.kill('SIGTERM');
      const force = setTimeout(() => this.#child.kill('SIGKILL'), STOP_LIMIT_MS);
      await gone;
      clearTimeout(force);
    }
    killLeftovers(descendants);
    removeDirectory(this.#home);
  }
}

/** The first line of a server's stdout: its address. */
async function firstLine(child) {
  const lines = createInterface({ input: child.stdout });
  try {
    for await (const line of lines) return line.trim();
  } finally {
    child.stdout.resume();
  }
  throw new Error('it ended before it told its address');
}

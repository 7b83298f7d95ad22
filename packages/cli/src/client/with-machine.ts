import { type ConnectOptions, connect, type NodeMachine } from '@exec-server/client';
import type { CommandIo } from '../command-io.js';
import type { ConnectionFlags } from '../commands/connection-options.js';
import { chooseContext } from './choose-context.js';
import { explainError } from './explain-error.js';
import { resolveServer, type ServerChoice } from './resolve-server.js';

/** Names commands in the logs of servers. */
const CLIENT_NAME = 'exec-server-cli';

/** The machine that a command works on. */
export interface OpenMachine {
  readonly machine: NodeMachine;
  /** Where its server is; absent for one of the command's own, which ends with the command. */
  readonly url: string | undefined;
}

/**
 * Connects to the server that the flags or the environment name, or else to one in this process, for as long as `use`
 * takes. What goes wrong comes out in words that say what to do next.
 */
export async function withMachine<T>(
  flags: ConnectionFlags,
  io: Pick<CommandIo, 'env'>,
  use: (open: OpenMachine) => Promise<T>,
  options: Pick<ConnectOptions, 'slowReader'> = {},
): Promise<T> {
  const choice = resolveServer(await chooseContext(flags, io.env), io.env);
  try {
    const { machine, close } = await openMachine(choice, { ...options, clientName: CLIENT_NAME });
    try {
      return await use({ machine, url: choice.url });
    } finally {
      await close();
    }
  } catch (error) {
    throw explainError(error, choice.url);
  }
}

interface Connection {
  readonly machine: NodeMachine;
  readonly close: () => Promise<void>;
}

async function openMachine({ url, dialOptions }: ServerChoice, options: ConnectOptions): Promise<Connection> {
  if (url !== undefined) {
    const machine = await connect(url, { ...dialOptions, ...options });
    return { machine, close: () => machine.close() };
  }
  // Loaded only where it is needed: it takes longer to load than to connect elsewhere.
  const { createExecServer } = await import('@exec-server/server');
  const server = createExecServer();
  const machine = await connect(server, options);
  return {
    machine,
    close: async () => {
      await machine.close();
      await server.close();
    },
  };
}

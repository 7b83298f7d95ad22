import type { Command } from 'commander';

/** Which server a command talks to. */
export interface ConnectionFlags {
  readonly connect?: string;
  /** Name of a context. */
  readonly on?: string;
  readonly tokenFile?: string;
  readonly tlsCa?: string;
}

/** Adds the options that say which server to talk to. */
export function addConnectionOptions(command: Command): Command {
  return command
    .option(
      '--connect <URL>',
      'server: ws://, wss:// or unix:// [env: EXEC_SERVER_URL] [default: one of its own, on this machine]',
    )
    .option('--on <NAME>', 'server by its name, see `context` [env: EXEC_SERVER_CONTEXT]')
    .option('--token-file <FILE>', "file with the server's token [env: EXEC_SERVER_TOKEN, the token itself]")
    .option('--tls-ca <FILE>', 'certificate authorities to trust for wss, PEM');
}

/** Adds `--json`, which every command has that tells something. */
export function addJsonOption(command: Command): Command {
  return command.option('--json', 'write JSON');
}

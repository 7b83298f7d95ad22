import { type Command, Option } from 'commander';
import type { CommandIo } from '../command-io.js';
import {
  readChoice,
  readCount,
  readPositiveCount,
  readText,
  repeatableOption,
  singleOption,
} from '../option-values.js';
import type { ServeSettings } from '../serve/settings.js';
import { UsageError } from '../usage-error.js';

const AUTH_MODES = ['capability-token', 'signed-bearer-token'] as const;
const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
const LOG_FORMATS = ['json', 'pretty'] as const;

/** Adds `serve`, the default command: takes connections until it is told to end. */
export function addServeCommand(
  program: Command,
  io: CommandIo,
  setExitCode: (code: number) => void,
): Command {
  const serve = program
    .command('serve', { isDefault: true })
    .description('take connections until a signal, or the end of stdin when it listens on stdio')
    .usage('[OPTIONS]')
    // Taken only to be refused by name: it is a command that does not exist.
    .argument('[unexpected...]')
    .action(async (unexpected: string[], settings: ServeSettings) => {
      if (unexpected[0] !== undefined)
        throw new UsageError(`unrecognized subcommand '${unexpected[0]}'`, true);
      // Loaded here so that `--version` and `--help` do not wait for the whole server.
      const { runServer } = await import('../serve/run-server.js');
      setExitCode(await runServer(settings, io));
    })
    .configureHelp({ visibleArguments: () => [] });
  for (const option of serveOptions()) serve.addOption(option);
  return serve;
}

function serveOptions(): Option[] {
  return [
    repeatableOption(
      '--listen <URL>',
      'ws://IP:PORT, wss://IP:PORT, unix:///PATH or stdio [default: ws://127.0.0.1:0]',
    ),
    ...authOptions(),
    repeatableOption('--allow-origin <ORIGIN>', 'web origin whose pages may connect'),
    repeatableOption('--allow-host <NAME>', 'further name by which clients reach this server'),
    new Option('--allow-unauthenticated', 'let a network listener take connections without --ws-auth'),
    singleOption('--tls-cert <FILE>', 'certificate chain for wss, PEM', readText),
    singleOption('--tls-key <FILE>', 'private key for wss, PEM', readText),
    singleOption(
      '--concurrent-requests <COUNT>',
      'ordinary requests of a connection that run at once [default: 64]',
      readPositiveCount,
    ),
    singleOption(
      '--detached-session-ms <MS>',
      'how long a session outlives its connection [default: 30000]',
      readCount,
    ),
    singleOption(
      '--log-level <LEVEL>',
      `least severe level on stderr: ${LOG_LEVELS.join(', ')} [default: warn]`,
      readChoice(LOG_LEVELS),
    ),
    singleOption(
      '--log-format <FORMAT>',
      `${LOG_FORMATS.join(' or ')} [default: pretty on a terminal, json elsewhere]`,
      readChoice(LOG_FORMATS),
    ),
    singleOption('--audit-log <FILE>', 'append a line per process started, refused and ended', readText),
  ];
}

function authOptions(): Option[] {
  return [
    singleOption(
      '--ws-auth <MODE>',
      `credential that WebSocket clients need: ${AUTH_MODES.join(' or ')}`,
      readChoice(AUTH_MODES),
    ),
    singleOption('--ws-token-file <PATH>', 'file with the capability token', readText),
    singleOption('--ws-token-sha256 <HEX>', 'SHA-256 digest of the capability token', readText),
    singleOption('--ws-shared-secret-file <PATH>', 'file with the secret of signed tokens (HS256)', readText),
    singleOption('--ws-issuer <ISSUER>', 'issuer that signed tokens must name', readText),
    singleOption('--ws-audience <AUDIENCE>', 'audience that signed tokens must name', readText),
    singleOption(
      '--ws-max-clock-skew-seconds <SECONDS>',
      'how far clocks may disagree over signed tokens [default: 30]',
      readCount,
    ),
  ];
}

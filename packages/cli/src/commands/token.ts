import type { CapabilityToken } from '../token/create-token.js';
import { addExample, type CommandContext } from './command-context.js';
import { addJsonOption } from './connection-options.js';

interface TokenFlags {
  readonly file?: string;
  readonly json?: true;
}

/** Adds `token`: makes a secret that lets clients in. */
export function addTokenCommand({ program, io }: CommandContext): void {
  const command = program
    .command('token')
    .description(
      'make a capability token and print its SHA-256 digest, which is all that a server needs to know',
    )
    .usage('[OPTIONS]')
    .option(
      '--file <FILE>',
      'write the token to a new file that only you can read, and print the digest alone',
    )
    .action(async ({ file, json }: TokenFlags) => {
      const { createToken, saveToken } = await import('../token/create-token.js');
      const created = createToken();
      if (file !== undefined) saveToken(created.token, file);
      const { sha256 } = created;
      const shown = file === undefined ? created : { file, sha256 };
      if (json) io.stdout.write(`${JSON.stringify(shown)}\n`);
      else for (const [name, value] of Object.entries(shown)) io.stdout.write(`${name.padEnd(8)}${value}\n`);
      if (!json && io.stdout.isTTY === true) io.stderr.write(explainUse(created, file));
    });
  addJsonOption(command);
  addExample(command, 'exec-server token --file ~/.exec-server-token');
}

function explainUse({ sha256 }: CapabilityToken, file: string | undefined): string {
  const holder = file === undefined ? 'EXEC_SERVER_TOKEN=TOKEN ' : '';
  const flag = file === undefined ? '' : ` --token-file ${file}`;
  return `
On the server:  exec-server --listen ws://IP:PORT --ws-auth capability-token --ws-token-sha256 ${sha256}
On the client:  ${holder}exec-server run --connect ws://IP:PORT${flag} -- uname -a
`;
}

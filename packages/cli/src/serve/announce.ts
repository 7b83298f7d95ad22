import type { CommandIo } from '../command-io.js';

export interface Announcement {
  /** Where the server listens, as its listeners say it. */
  readonly urls: readonly string[];
  readonly needsToken: boolean;
}

/**
 * Says where the server listens: each URL as a line on stdout for programs that start one, and on stderr with words,
 * where older clients look. Over stdio stdout belongs to the client and nothing may stand on it.
 */
export function announce(io: Pick<CommandIo, 'stdout' | 'stderr'>, { urls, needsToken }: Announcement): void {
  const addresses = urls.filter((url) => url !== 'stdio');
  for (const address of addresses) io.stderr.write(`exec-server listening on ${address}\n`);
  if (!urls.includes('stdio')) {
    for (const address of addresses) io.stdout.write(`${address}\n`);
  }
  const webSocket = addresses.find((address) => address.startsWith('ws'));
  if (webSocket === undefined) return;
  const how = needsToken
    ? `${webSocket} with the header \`Authorization: Bearer TOKEN\``
    : `${webSocket}, for one with CODEX_EXEC_SERVER_URL=${webSocket} codex`;
  io.stderr.write(`connect a client to ${how}; Ctrl-C ends the server\n`);
}

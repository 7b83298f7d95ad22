import { createLineTransport } from '@exec-server/rpc/node';
import type { ListenOptions } from './listen-options.js';
import type { AcceptConnection, Listener } from './listener.js';
import { observeEnd } from './observe-end.js';
import { ANONYMOUS_PRINCIPAL } from './principal.js';
import { reserveStdout } from './reserve-stdout.js';
import { measureTraffic } from './stream-traffic.js';

/** Takes the one connection that is already there. The listener ends with it. */
export async function openStdioListener(options: ListenOptions, accept: AcceptConnection): Promise<Listener> {
  const reserved = options.streams === undefined ? reserveStdout() : undefined;
  const input = options.streams?.input ?? process.stdin;
  const output = options.streams?.output ?? reserved?.stdout ?? process.stdout;
  const { transport, ended } = observeEnd(createLineTransport({ input, output, label: 'exec-server stdio' }));
  const readTraffic = () => measureTraffic(input, output);
  accept(transport, { principal: ANONYMOUS_PRINCIPAL, remote: 'stdio', resumable: false, readTraffic });
  return {
    url: 'stdio',
    ended: ended.finally(() => reserved?.release()),
    // There is nothing more to take: the one connection goes on or ends by itself.
    close: async () => {},
  };
}

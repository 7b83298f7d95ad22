import type { NetworkPolicyDecisionNotification, NetworkPolicyRequestParams } from '@exec-server/protocol';
import type { CallOptions } from '@exec-server/rpc';
import type { NetworkAuthority } from '../../sessions/session.js';
import type { ConnectionScope } from '../dialect.js';

/** The client of a connection decides. */
export class ClientNetworkAuthority implements NetworkAuthority {
  constructor(private readonly connection: Pick<ConnectionScope, 'notify' | 'request' | 'writable'>) {}

  ask(question: NetworkPolicyRequestParams, options: CallOptions): Promise<unknown> {
    return this.connection.request('network/policyRequest', question, options);
  }

  tell(decision: NetworkPolicyDecisionNotification): void {
    // A program can make as many as it likes, and a client that does not read must not have to keep them all.
    if (this.connection.writable) this.connection.notify('network/policyDecision', decision);
  }
}

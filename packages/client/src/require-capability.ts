import { CapabilityMissingError } from './errors.js';
import type { SessionClient } from './session-client.js';

/** Throws `CapabilityMissingError` unless the server has a capability. */
export async function requireCapability(client: SessionClient, capability: string): Promise<void> {
  if (!(await client.supports(capability))) throw new CapabilityMissingError(capability);
}

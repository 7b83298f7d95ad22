/** Who listens at a port: a listener, behind which the whole server is, or the proxy of a process. */
export type PortOwner = 'listener' | 'proxy';

/** Those of all servers of this process: whoever reaches one of them by way of another is no better off. */
const own = new Set<{ readonly port: number; readonly owner: PortOwner }>();

/** Remembers a port at which this process takes connections, until the returned function is called. */
export function claimPort(port: number, owner: PortOwner): () => void {
  const claim = { port, owner };
  own.add(claim);
  return () => void own.delete(claim);
}

/** Whether this process takes connections at a port, at whatever address. @param owner who is looked for; by default anybody */
export function isOwnPort(port: number, owner?: PortOwner): boolean {
  for (const claim of own)
    if (claim.port === port && (owner === undefined || claim.owner === owner)) return true;
  return false;
}

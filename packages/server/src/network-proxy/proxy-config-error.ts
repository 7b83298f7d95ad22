/** A proxy that was asked for cannot be made as asked; the message is for the client. */
export class ProxyConfigError extends Error {
  override readonly name = 'ProxyConfigError';
}

/** The configuration of this machine cannot be loaded. The message is meant for clients. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

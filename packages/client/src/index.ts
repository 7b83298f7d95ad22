export { UnexpectedSessionError } from './errors.js';
export type { NotificationListener, ServerNotification } from './notification-hub.js';
export { WireClient, type WireClientOptions } from './wire-client.js';

export { UnexpectedSessionError } from './errors.js';
export type {
  NotificationListener,
  OutputListener,
  ProcessOutput,
  ServerNotification,
} from './notification-hub.js';
export { WireClient, type WireClientOptions } from './wire-client.js';

import type { Dialect } from '../dialect.js';
import { AppConversation, type AppMethod, type AppServices } from './conversation.js';

/** The protocol of the app server, as far as it is about processes, files and configuration. */
export function createAppDialect(services: Omit<AppServices, 'methods'>): Dialect {
  const methods = new Map<string, AppMethod>();
  return { converse: (host) => new AppConversation(host, { ...services, methods }) };
}

import type { Dialect } from '../dialect.js';
import { COMMAND_METHODS } from './command-table.js';
import { AppConversation, type AppMethod, type AppServices } from './conversation.js';
import { PROCESS_METHODS } from './process-table.js';

const METHODS: readonly AppMethod[] = [...COMMAND_METHODS, ...PROCESS_METHODS];

/** The protocol of the app server, as far as it is about processes, files and configuration. */
export function createAppDialect(services: Omit<AppServices, 'methods'>): Dialect {
  const methods = new Map(METHODS.map((method) => [method.name, method]));
  return { converse: (host) => new AppConversation(host, { ...services, methods }) };
}

import type { ServerConfiguration } from '../../configuration.js';
import type { Dialect } from '../dialect.js';
import { COMMAND_METHODS } from './command-table.js';
import { createConfigMethods } from './config-table.js';
import { AppConversation, type AppMethod, type AppServices } from './conversation.js';
import { FS_METHODS } from './fs-table.js';
import { locateCodexHome } from './initialize.js';
import { PROCESS_METHODS } from './process-table.js';

/** What the dialect is made with. */
export interface AppDialectOptions extends Omit<AppServices, 'methods' | 'codexHome'> {
  readonly configuration: ServerConfiguration;
}

/** The protocol of the app server, as far as it is about processes, files and configuration. */
export function createAppDialect({ configuration, ...services }: AppDialectOptions): Dialect {
  const all: readonly AppMethod[] = [
    ...COMMAND_METHODS,
    ...PROCESS_METHODS,
    ...FS_METHODS,
    ...createConfigMethods(configuration),
  ];
  const methods = new Map(all.map((method) => [method.name, method]));
  const codexHome = locateCodexHome(services.engine.serverEnv);
  return { converse: (host) => new AppConversation(host, { ...services, methods, codexHome }) };
}

import { checkOptions } from './check-options.js';
import type { CommonOptions } from './process/spawn-options.js';
import type { Sandbox } from './sandbox.js';

/** What processes of a machine are started with unless the call says otherwise. */
export interface MachineDefaults
  extends Pick<CommonOptions, 'cwd' | 'env' | 'inheritEnv' | 'timeoutMs' | 'tags'> {
  /** What processes may touch, and what file operations may. */
  readonly sandbox?: Sandbox;
}

const NAMES: readonly (keyof MachineDefaults)[] = [
  'cwd',
  'env',
  'inheritEnv',
  'timeoutMs',
  'tags',
  'sandbox',
];

/** Refuses what is no default. */
export function checkDefaults(defaults: MachineDefaults): void {
  checkOptions('with', defaults, NAMES);
}

/** What is given wins; variables and tags are added to those of the defaults. */
export function withDefaults<Options extends MachineDefaults>(
  defaults: MachineDefaults,
  options: Options = {} as Options,
): Options {
  const { env, tags } = options;
  return {
    ...defaults,
    ...options,
    ...((defaults.env ?? env) !== undefined && { env: { ...defaults.env, ...env } }),
    ...((defaults.tags ?? tags) !== undefined && { tags: { ...defaults.tags, ...tags } }),
  };
}

import { type Logger, silentLogger } from '../telemetry/logger.js';
import { FallbackLauncher } from './fallback/fallback-launcher.js';
import type { Launcher } from './launch.js';
import { loadLibc } from './libc.js';
import { NativeLauncher } from './native-launcher.js';

export interface LauncherOptions {
  /**
   * Keep a small process beside the server that ends the children when the server is killed.
   * @default true
   */
  readonly guardian?: boolean;
  /**
   * Give each child a cgroup of its own, where the system lets this process make them.
   * @default true
   */
  readonly cgroups?: boolean;
  /**
   * Make processes that lose their parents children of this process, where the system can.
   * @default false
   */
  readonly subreaper?: boolean;
  /** @default says nothing */
  readonly logger?: Logger;
  /**
   * Use the portable launcher even where the native one works.
   * @default false
   */
  readonly fallback?: boolean;
}

/** The launcher of this platform: the native one on Linux, the portable one wherever that cannot be loaded. */
export function createLauncher({
  guardian = true,
  cgroups = true,
  subreaper = false,
  logger = silentLogger,
  fallback = false,
}: LauncherOptions = {}): Launcher {
  if (!fallback) {
    try {
      return new NativeLauncher({ guardian, cgroups, subreaper, logger });
    } catch (error) {
      logger.info({ error }, 'the native launcher cannot be used, the portable one takes over');
    }
  }
  return new FallbackLauncher({ guardian, logger });
}

/** Whether the native launcher can be used here, or why the portable one takes its place. */
export type NativeLauncherSupport =
  | { readonly usable: true }
  | { readonly usable: false; readonly reason: string };

export function probeNativeLauncher(): NativeLauncherSupport {
  try {
    loadLibc();
    return { usable: true };
  } catch (error) {
    return { usable: false, reason: error instanceof Error ? error.message : String(error) };
  }
}

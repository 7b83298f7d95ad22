import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { machine } from 'node:os';
import { arch } from 'node:process';
import type * as Koffi from 'koffi';

/** The version that the manifest pins. */
export const KOFFI_VERSION = '3.3.4';

const requireHere = createRequire(import.meta.url);

/**
 * koffi, by its addon alone where that lies where npm puts it: its JavaScript only finds the addon and warns of old names,
 * in 6 to 8 ms of every start. Throws where no binary exists for the platform.
 */
export function loadKoffi(load: NodeRequire = requireHere): typeof Koffi {
  return loadAddon(load) ?? (load('koffi') as typeof Koffi);
}

function loadAddon(load: NodeRequire): typeof Koffi | undefined {
  // koffi knows which of its addons is for which C library; this one is for that of GNU.
  if (existsSync(`/lib/ld-musl-${machine()}.so.1`)) return undefined;
  try {
    const addon = load(`@koromix/koffi-linux-${arch}/linux_${arch}/koffi.node`) as typeof Koffi;
    return addon.version === KOFFI_VERSION ? addon : undefined;
  } catch {
    return undefined;
  }
}

import type { BytePath } from '../fs/watch/byte-path.js';
import type { TextFile } from './bundle.js';

/** What a manifest calls its plugin. */
export interface ManifestNames {
  /** Namespace of its skills. */
  readonly name: string;
  readonly displayName: string;
}

/** The names in a manifest; the directory's own where it has none. Nothing when the manifest is not what it should be. */
export function readManifestNames(manifest: TextFile, pluginRoot: BytePath): ManifestNames | undefined {
  const members = asRecord(parseJson(manifest.contents));
  const face = members && asRecord(members.interface ?? {});
  if (members === undefined || face === undefined) return undefined;
  const { name: given = '' } = members;
  const shown = face.displayName ?? '';
  if (typeof given !== 'string' || typeof shown !== 'string') return undefined;
  const name = given.trim() === '' ? directoryName(pluginRoot) : given;
  return { name, displayName: shown.trim() || name };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function asRecord(value: unknown): Record<string, unknown> | undefined {
  const isRecord = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isRecord ? (value as Record<string, unknown>) : undefined;
}

/** The last component of a path as text. */
export function directoryName(path: BytePath): string {
  return Buffer.from(path.slice(path.lastIndexOf('/') + 1), 'latin1').toString();
}

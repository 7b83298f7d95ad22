import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

export interface SourceFile {
  /** Relative to the repository, for example `packages/rpc/src/peer.ts`. */
  readonly path: string;
  /** The directory name of its package, for example `rpc`. */
  readonly packageName: string;
  readonly text: string;
}

export interface Manifest {
  readonly name: string;
  readonly private?: boolean;
  readonly exports?: Readonly<Record<string, unknown>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

export function listPackages(): string[] {
  return readdirSync(join(ROOT, 'packages')).sort();
}

/** The manifest of a package, or of the workspace itself. */
export function readManifest(packageName?: string): Manifest {
  const directory = packageName === undefined ? ROOT : join(ROOT, 'packages', packageName);
  return JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as Manifest;
}

/** Every hand-written TypeScript file below the `src` of every package. */
export function listSourceFiles(): SourceFile[] {
  return listPackages().flatMap((packageName) =>
    readdirSync(join(ROOT, 'packages', packageName, 'src'), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && !entry.name.endsWith('.gen.ts'))
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => ({ path: relative(ROOT, path), packageName, text: readFileSync(path, 'utf8') })),
  );
}

const IMPORT = /(?:^|\n)\s*(?:import|export)\s(?:[^'";]*?\sfrom\s+)?'([^']+)'|\bimport\('([^']+)'\)/g;

/** What a file imports, types included, as it is written there. */
export function findImports(text: string): string[] {
  return [...text.matchAll(IMPORT)].map(([, fromClause, dynamic]) => fromClause ?? dynamic ?? '');
}

import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { listPackages, ROOT, readManifest } from './source-files.js';

const EXPORT_FROM = /^export (?:type )?\{([^}]*)\} from '[^']+';/gm;
const EXPORT_LIST = /^export (?:type )?\{([^}]*)\};/gm;
const EXPORT_ALL = /^export (?:type )?\* from '(\.[^']+)\.js';/gm;
const DECLARATION =
  /^export (?:declare )?(?:abstract )?(?:function|interface|const|type|class|namespace|enum) ([\w$]+)/gm;

/** The names that a declaration file exports, values and types alike. */
function listExports(file: string): string[] {
  const text = readFileSync(file, 'utf8');
  const lists = [EXPORT_FROM, EXPORT_LIST].flatMap((form) => [...text.matchAll(form)]);
  const listed = lists.flatMap(([, names]) => names!.split(',').map(exportedName).filter(Boolean));
  const declared = [...text.matchAll(DECLARATION)].map(([, name]) => name!);
  const passedOn = [...text.matchAll(EXPORT_ALL)].flatMap(([, path]) =>
    listExports(join(dirname(file), `${path}.d.ts`)),
  );
  return [...new Set([...listed, ...declared, ...passedOn])].sort();
}

function exportedName(entry: string): string {
  const words = entry.trim().split(/\s+/);
  return words.at(-1) ?? '';
}

/** The declaration files behind the entries of a manifest's `exports`. */
function listEntries(exports: unknown, conditions = ''): [entry: string, file: string][] {
  if (typeof exports !== 'object' || exports === null) return [];
  return Object.entries(exports).flatMap(([key, value]): [string, string][] =>
    key === 'types' && typeof value === 'string'
      ? [[conditions, value]]
      : listEntries(value, `${conditions} ${key}`.trim()),
  );
}

const published = listPackages().filter((name) => readManifest(name).private !== true);

/** Red means: the public surface changed. If that is on purpose, `npx vitest run test/workspace/public-surface -u`. */
describe.each(published)('%s', (name) => {
  test('exports what was agreed', async () => {
    const entries = listEntries(readManifest(name).exports);
    const sections = entries.map(([entry, file]) => {
      const names = listExports(join(ROOT, 'packages', name, file));
      return `${entry}\n${names.map((exported) => `  ${exported}\n`).join('')}`;
    });
    await expect(sections.join('\n')).toMatchFileSnapshot(`public-surface/${name}.txt`);
  });
});

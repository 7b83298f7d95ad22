import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from './source-files.js';

const FENCED_CODE = /^```[^\n]*\n[\s\S]*?^```/gm;
const INLINE_CODE = /`[^`\n]*`/g;
const LINK = /\]\(([^)\s]+)\)/g;
const HEADING = /^#{1,6} +(.+?) *$/gm;
/** Links that lead out of the repository. */
const EXTERNAL = /^[a-z]+:/;

const documents = [ROOT, join(ROOT, 'docs'), join(ROOT, 'bench'), join(ROOT, '.github')].flatMap(
  (directory) =>
    readdirSync(directory)
      .filter((name) => name.endsWith('.md'))
      .map((name) => join(directory, name)),
);

/** The name that a heading can be linked by, as GitHub makes it. */
function anchorOf(heading: string): string {
  return heading
    .replaceAll(/[`*]/g, '')
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');
}

function readAnchors(file: string): Set<string> {
  const text = readFileSync(file, 'utf8').replaceAll(FENCED_CODE, '');
  return new Set([...text.matchAll(HEADING)].map(([, heading]) => anchorOf(heading!)));
}

function findBrokenLinks(file: string): string[] {
  const text = readFileSync(file, 'utf8').replaceAll(FENCED_CODE, '').replaceAll(INLINE_CODE, '');
  return [...text.matchAll(LINK)]
    .map(([, target]) => target!)
    .filter((target) => !EXTERNAL.test(target))
    .filter((target) => {
      const [path = '', anchor] = target.split('#');
      const linked = path === '' ? file : resolve(dirname(file), path);
      if (!existsSync(linked)) return true;
      return anchor !== undefined && linked.endsWith('.md') && !readAnchors(linked).has(anchor);
    });
}

test.each(documents.map((file) => relative(ROOT, file)))('every link of %s leads somewhere', (path) => {
  expect(findBrokenLinks(join(ROOT, path))).toEqual([]);
});

test('a heading is linked as GitHub spells it', () => {
  expect(anchorOf('Decision 1: the native layer is `TypeScript` on koffi')).toBe(
    'decision-1-the-native-layer-is-typescript-on-koffi',
  );
});

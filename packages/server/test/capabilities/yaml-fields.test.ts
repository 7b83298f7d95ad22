import { expect, it } from 'vitest';
import { parseFrontmatter } from '../../src/capabilities/skill-frontmatter.js';
import { parseSkillMetadata } from '../../src/capabilities/skill-metadata.js';
import { MAX_YAML_CHARACTERS, readYaml } from '../../src/capabilities/yaml-fields.js';

it.each([
  [MAX_YAML_CHARACTERS - 1, true],
  [MAX_YAML_CHARACTERS, true],
  [MAX_YAML_CHARACTERS + 1, false],
])('YAML of %i characters is read: %s', (length, isRead) => {
  const head = `name: n\ndescription: d\n#${'x'.repeat(length)}`.slice(0, length);
  expect(readYaml(head) !== undefined).toBe(isRead);
  expect(parseFrontmatter(`---\n${head}\n---\nbody`, 'folder')?.name).toBe(isRead ? 'n' : undefined);
  const metadata = `policy: {products: [codex]}\n#${'x'.repeat(length)}`.slice(0, length);
  expect(parseSkillMetadata(metadata).policy?.products).toEqual(isRead ? ['codex'] : undefined);
});

const fill = (piece: string) => piece.repeat(MAX_YAML_CHARACTERS / piece.length);

it.each([
  [
    'members',
    (length: number) => Array.from({ length: length / 8 }, (_, index) => `k${index}: 1`).join('\n'),
  ],
  [
    'members in a line',
    (length: number) => `{${Array.from({ length: length / 6 }, (_, i) => `k${i}`).join()}}`,
  ],
  ['brackets', () => fill('[')],
  ['braces', () => fill('{a: ')],
  ['lists in lists', () => fill('- ')],
  ['questions', () => fill('? ')],
  ['tabs', () => fill('a:\t')],
  ['members twice', () => fill('a: b: c\n')],
  ['aliases', () => `- &a x\n${fill('- *a\n')}`],
  ['prose that is no YAML', () => fill('a: @\n')],
])('the longest text of %s comes to an end', (_what, make) => {
  const text = make(MAX_YAML_CHARACTERS).slice(0, MAX_YAML_CHARACTERS);
  expect(parseFrontmatter(`---\n${text}\n---\n`, 'folder')).toBeUndefined();
  expect(parseSkillMetadata(text)).toEqual({ dependencies: null, policy: null });
});

it('a head of 256 KiB is not looked at, nor is what follows a short one', () => {
  const long = Array.from({ length: 32_768 }, (_, index) => `k${index}: 1`).join('\n');
  expect(parseFrontmatter(`---\ndescription: d\n${long}\n---\n`, 'folder')).toBeUndefined();
  expect(parseFrontmatter(`---\ndescription: d\n---\n${long}`, 'folder')?.description).toBe('d');
});

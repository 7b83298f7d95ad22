import { describe, expect, it } from 'vitest';
import { parseFrontmatter } from '../../src/capabilities/skill-frontmatter.js';

const parse = (head: string) => parseFrontmatter(`---\n${head}---\nbody`, 'folder');

describe('the head of a skill', () => {
  it.each([
    ['name: n\ndescription: d\n', { name: 'n', description: 'd', shortDescription: undefined }],
    ['description: d\n', { name: 'folder', description: 'd' }],
    ['name: null\ndescription: d\n', { name: 'folder' }],
    ['name: 5\ndescription: 1.50\n', { name: '5', description: '1.50' }],
    ['name: n\ndescription: |\n  one\n  two   three\n', { description: 'one two three' }],
    ['name: n\ndescription: "D: x" # why\n', { description: 'D: x' }],
    ['name: n\ndescription: d\nmetadata:\n  short-description: "  s  h "\n', { shortDescription: 's h' }],
    ['name: n\ndescription: d\nmetadata: {short-description: 5}\n', { shortDescription: '5' }],
    [`name: ${'n'.repeat(63)}\ndescription: d\n`, { name: 'n'.repeat(63) }],
    [`name: ${'n'.repeat(64)}\ndescription: d\n`, { name: 'n'.repeat(64) }],
    // Prose that is no YAML is taken as prose.
    ['name: n\ndescription: Use when: things happen\n', { description: 'Use when: things happen' }],
    ["name: n\ndescription: it's: quoted # not this\n", { description: "it's: quoted" }],
    ['name: n\ndescription: d\nhint: <duration: e.g. 7d>\nother: [unclosed\n', { description: 'd' }],
  ])('%j', (head, expected) => {
    expect(parse(head)).toMatchObject(expected);
  });

  it.each([
    'name: n\n',
    'name: n\ndescription: ""\n',
    'name: n\ndescription: [a, b]\n',
    'name: [a]\ndescription: d\n',
    'name: n\nname: m\ndescription: d\n',
    'name: n\ndescription: d\nmetadata: 5\n',
    `name: ${'n'.repeat(65)}\ndescription: d\n`,
    'name: "n\n',
    '',
  ])('%j describes nothing', (head) => {
    expect(parse(head)).toBeUndefined();
  });

  it('is fenced by lines of dashes, the first of them the first line', () => {
    const head = 'name: n\ndescription: d';
    expect(parseFrontmatter(`---  \r\n${head}\r\n --- \r\nbody`, 'f')?.name).toBe('n');
    for (const contents of [`\n---\n${head}\n---\n`, `\ufeff---\n${head}\n---\n`, `---\n${head}\n`, head, ''])
      expect(parseFrontmatter(contents, 'f')).toBeUndefined();
  });

  it('is not expanded by references', () => {
    expect(parse('a: &a xx\nname: n\ndescription: *a\n')).toBeUndefined();
  });
});

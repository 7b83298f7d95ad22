import { MAX_YAML_CHARACTERS, mapOf, oneLine, readYaml, textOf } from './yaml-fields.js';

/** Longest name of a skill, in characters. */
const MAX_NAME_LENGTH = 64;

const FENCE = '---';

/** What a skill says about itself. */
export interface SkillFrontmatter {
  readonly name: string;
  readonly description: string;
  readonly shortDescription: string | undefined;
}

/**
 * Reads the head of a `SKILL.md`: YAML between two lines of dashes, the first of them the very first line. Nothing when
 * there is none or it does not describe a skill.
 */
export function parseFrontmatter(contents: string, defaultName: string): SkillFrontmatter | undefined {
  const head = findHead(contents);
  const fields = head === undefined ? undefined : parseFields(head);
  if (fields === undefined) return undefined;
  const name = fields.name || defaultName;
  if (Array.from(name).length > MAX_NAME_LENGTH || !fields.description) return undefined;
  return { name, description: fields.description, shortDescription: fields.shortDescription || undefined };
}

function findHead(contents: string): string | undefined {
  // What follows the longest head is of no interest.
  const [first, ...lines] = contents.slice(0, 2 * MAX_YAML_CHARACTERS).split('\n');
  if (first?.trim() !== FENCE || first.startsWith('\ufeff')) return undefined;
  const end = lines.findIndex((line) => line.trim() === FENCE);
  const head = lines.slice(0, end).join('\n');
  return end > 0 && head.length <= MAX_YAML_CHARACTERS ? head : undefined;
}

interface Fields {
  readonly name: string;
  readonly description: string;
  readonly shortDescription: string;
}

function parseFields(head: string): Fields | undefined {
  return readFields(head) ?? readFields(quoteProse(head));
}

function readFields(head: string): Fields | undefined {
  const top = mapOf(readYaml(head));
  const metadata = top?.get('metadata');
  const inner = metadata === undefined ? new Map() : mapOf(metadata);
  if (top === undefined || inner === undefined) return undefined;
  const name = textOf(top.get('name'));
  const description = textOf(top.get('description'));
  const shortDescription = textOf(inner.get('short-description'));
  if (name === undefined || description === undefined || shortDescription === undefined) return undefined;
  return {
    name: oneLine(name),
    description: oneLine(description),
    shortDescription: oneLine(shortDescription),
  };
}

/** Quotes values that are prose and not YAML, as in `description: Use when: things happen`. */
function quoteProse(head: string): string {
  return head
    .split('\n')
    .map((line) => {
      const { key, value, comment } = splitMember(line) ?? {};
      if (value === undefined || !isProse(value)) return line;
      return `${key}'${value.replaceAll("'", "''")}'${comment}`;
    })
    .join('\n');
}

/** The three parts of a line with a member and a value that is neither quoted nor a block. */
function splitMember(line: string): Record<'key' | 'value' | 'comment', string> | undefined {
  const colon = line.indexOf(':');
  const behind = line.slice(colon + 1);
  const start = behind.length - behind.trimStart().length;
  if (!/^\s*[^\s:#]/.test(line) || colon === -1 || start === 0 || /^['"|>]/.test(behind.trimStart()))
    return undefined;
  const text = behind.trim();
  const mark = text.search(/\s#/);
  const value = mark === -1 ? text : text.slice(0, mark).trimEnd();
  if (value === '') return undefined;
  const valueAt = colon + 1 + start;
  return { key: line.slice(0, valueAt), value, comment: line.slice(valueAt + value.length) };
}

function isProse(value: string): boolean {
  if (/:\s/.test(value)) return true;
  return /^[[{@`]/.test(value) && readYaml(value) === undefined;
}

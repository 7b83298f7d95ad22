import { isMap, isScalar, isSeq, type Node, parseDocument, Scalar } from 'yaml';

/**
 * Longest YAML that is read, in characters. The parser takes a few microseconds for each, and for each member as long as
 * there are others beside it.
 */
export const MAX_YAML_CHARACTERS = 8 * 1024;

/** What YAML says; nothing when it is broken or too long. */
export function readYaml(text: string): Node | null | undefined {
  if (text.length > MAX_YAML_CHARACTERS) return undefined;
  try {
    const { contents, errors } = parseDocument(text, { logLevel: 'silent' });
    return errors.length > 0 ? undefined : contents;
  } catch (error) {
    // It goes down as deep as the text does.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** The members of a mapping, by name; nothing when the node is something else. */
export function mapOf(node: unknown): Map<string, Node | null> | undefined {
  if (!isMap(node)) return undefined;
  const members = new Map<string, Node | null>();
  for (const { key, value } of node.items) {
    if (isScalar(key)) members.set(String(key.value), value as Node | null);
  }
  return members;
}

export function listOf(node: unknown): readonly unknown[] | undefined {
  return isSeq(node) ? node.items : undefined;
}

/** Whether a member is absent or says nothing. */
export function isNothing(node: unknown): boolean {
  return node === undefined || node === null || (isScalar(node) && node.value === null);
}

/**
 * The text of a scalar as it was written, so that `1.50` stays `1.50`; empty when there is none. Nothing when the node
 * is a list, a mapping or a reference.
 */
export function textOf(node: unknown): string | undefined {
  if (isNothing(node)) return '';
  if (!isScalar(node)) return undefined;
  if (typeof node.value === 'string') return node.value;
  return node.type === Scalar.PLAIN ? (node.source ?? String(node.value)) : undefined;
}

/** Text with every run of white space as one space, and none around it. */
export function oneLine(text: string): string {
  return text.split(/\s+/).filter(Boolean).join(' ');
}

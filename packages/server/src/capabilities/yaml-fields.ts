import { isMap, isScalar, isSeq, type Node, Scalar } from 'yaml';

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

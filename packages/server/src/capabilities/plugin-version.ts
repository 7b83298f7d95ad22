import { compareText } from './compare-text.js';

const SEMANTIC = /^(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z.-]+))?(?:\+([0-9A-Za-z.-]+))?$/;

/** Orders names of versions: by the rules of semantic versions where both are such, else as text. */
export function compareVersions(left: string, right: string): number {
  const [first, second] = [SEMANTIC.exec(left), SEMANTIC.exec(right)];
  if (first === null || second === null) return compareText(left, right);
  for (const part of [1, 2, 3]) {
    const order = compareNumbers(first[part]!, second[part]!);
    if (order !== 0) return order;
  }
  return comparePrereleases(first[4], second[4]) || compareText(first[5] ?? '', second[5] ?? '');
}

/** A release comes after all of its pre-releases. */
function comparePrereleases(left: string | undefined, right: string | undefined): number {
  if (left === right) return 0;
  if (left === undefined) return 1;
  if (right === undefined) return -1;
  const [ours, theirs] = [left.split('.'), right.split('.')];
  for (const [index, mine] of ours.entries()) {
    const other = theirs[index];
    if (other === undefined) return 1;
    const order = compareIdentifiers(mine, other);
    if (order !== 0) return order;
  }
  return -1;
}

function compareIdentifiers(left: string, right: string): number {
  const [leftIsNumber, rightIsNumber] = [/^\d+$/.test(left), /^\d+$/.test(right)];
  if (leftIsNumber && rightIsNumber) return compareNumbers(left, right);
  if (leftIsNumber !== rightIsNumber) return leftIsNumber ? -1 : 1;
  return compareText(left, right);
}

/** Of any length: the longer number is the greater one. */
function compareNumbers(left: string, right: string): number {
  const [first, second] = [left.replace(/^0+(?=\d)/, ''), right.replace(/^0+(?=\d)/, '')];
  return first.length - second.length || compareText(first, second);
}

/** Whether a pattern matches a path, decided by trying every way to read both; slow, and short enough to be believed. */
export function matchesPattern(pattern: string, path: string): boolean {
  return matchComponents(splitComponents(pattern), splitComponents(path));
}

function splitComponents(text: string): string[] {
  return text.split('/').filter((component) => component !== '' && component !== '.');
}

function matchComponents(patterns: readonly string[], names: readonly string[]): boolean {
  const [pattern, ...patternsLeft] = patterns;
  if (pattern === undefined) return names.length === 0;
  if (pattern === '**') return [...names, ''].some((_, at) => matchComponents(patternsLeft, names.slice(at)));
  const [name, ...namesLeft] = names;
  if (name === undefined) return false;
  return matchName(Array.from(pattern), Array.from(name)) && matchComponents(patternsLeft, namesLeft);
}

function matchName(pattern: readonly string[], name: readonly string[]): boolean {
  const [first, ...rest] = pattern;
  if (first === undefined) return name.length === 0;
  if (first === '*') return matchName(rest, name) || (name.length > 0 && matchName(pattern, name.slice(1)));
  const choice = first === '{' ? readUpTo(rest, '}') : undefined;
  if (choice !== undefined)
    return choice.inner
      .join('')
      .split(',')
      .some((option) => matchName([...Array.from(option), ...choice.behind], name));
  const [character, ...nameLeft] = name;
  if (character === undefined) return false;
  if (first === '?') return matchName(rest, nameLeft);
  const set = first === '[' ? readUpTo(rest, ']') : undefined;
  if (set !== undefined) return isInSet(set.inner, character) && matchName(set.behind, nameLeft);
  const [literal, behind] =
    first === '\\' && rest[0] !== undefined ? [rest[0], rest.slice(1)] : [first, rest];
  return literal === character && matchName(behind, nameLeft);
}

function readUpTo(
  characters: readonly string[],
  end: string,
): { readonly inner: readonly string[]; readonly behind: readonly string[] } | undefined {
  const at = characters.indexOf(end);
  if (at === -1 || (end === '}' && characters.slice(0, at).includes('{'))) return undefined;
  return { inner: characters.slice(0, at), behind: characters.slice(at + 1) };
}

function isInSet(inner: readonly string[], character: string): boolean {
  const negated = inner[0] === '!' || inner[0] === '^';
  const members = negated ? inner.slice(1) : inner;
  const isRange = members.length === 3 && members[1] === '-';
  const found = isRange
    ? character >= (members[0] as string) && character <= (members[2] as string)
    : members.includes(character);
  return found !== negated;
}

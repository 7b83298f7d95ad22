const SIMPLE_LENGTH = 32;
const GROUP_LENGTHS = [8, 4, 4, 4, 12];
const URN_PREFIX = 'urn:uuid:';

/** Says what is wrong with a UUID, or nothing. Hyphens are optional; a `urn:uuid:` prefix or braces are accepted. */
export function checkUuid(text: string): string | undefined {
  const digits = stripDecoration(text);
  const foreign = digits.search(/[^0-9a-fA-F-]/);
  if (foreign !== -1) {
    const character = String.fromCodePoint(digits.codePointAt(foreign) as number);
    const position = text.indexOf(digits) + foreign + 1;
    return `invalid character: expected an optional prefix of \`${URN_PREFIX}\` followed by [0-9a-fA-F-], found \`${character}\` at ${position}`;
  }
  const groups = digits.split('-');
  if (groups.length === 1) {
    if (digits.length === SIMPLE_LENGTH) return undefined;
    return `invalid length: expected length ${SIMPLE_LENGTH} for simple format, found ${digits.length}`;
  }
  if (groups.length !== GROUP_LENGTHS.length) {
    return `invalid group count: expected ${GROUP_LENGTHS.length}, found ${groups.length}`;
  }
  for (const [index, group] of groups.entries()) {
    if (group.length === GROUP_LENGTHS[index]) continue;
    return `invalid group length in group ${index}: expected ${GROUP_LENGTHS[index]}, found ${group.length}`;
  }
  return undefined;
}

function stripDecoration(text: string): string {
  if (text.startsWith(URN_PREFIX)) return text.slice(URN_PREFIX.length);
  return text.startsWith('{') && text.endsWith('}') ? text.slice(1, -1) : text;
}

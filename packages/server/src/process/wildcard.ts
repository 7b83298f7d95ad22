/**
 * Whether a whole name matches a pattern in which `*` stands for any run and `?` for any one character, without case;
 * nothing else is special. Takes at most name × pattern steps, whatever the pattern: patterns come from clients.
 */
export function matchesWildcard(name: string, pattern: string): boolean {
  const text = Array.from(name.toLowerCase());
  const glob = Array.from(pattern.toLowerCase());
  let at = 0;
  let star = -1;
  let resumeAt = 0;
  for (let index = 0; index < text.length; ) {
    if (glob[at] === '*') {
      star = at++;
      resumeAt = index;
    } else if (at < glob.length && (glob[at] === '?' || glob[at] === text[index])) {
      at++;
      index++;
    } else if (star >= 0) {
      // The last star takes one character more and the rest is tried again.
      at = star + 1;
      index = ++resumeAt;
    } else return false;
  }
  while (glob[at] === '*') at++;
  return at === glob.length;
}

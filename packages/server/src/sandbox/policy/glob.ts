/** A pattern of absolute paths, ready to be looked up. */
export interface CompiledGlob {
  /** The directory that everything which it matches is below; it has no special characters. */
  readonly base: string;
  matches(path: string): boolean;
}

const SPECIAL = /[*?[{\\]/;

/**
 * Compiles a pattern: `*` and `?` stay within a name, `**` as a whole component stands for any number of them, `[…]` is
 * a set of characters and `{a,b}` a choice; a backslash takes a character's meaning away. Names that begin with a dot
 * are matched like all others, because patterns here hide things. Whatever is below a match is hidden with it.
 */
export function compileGlob(pattern: string): CompiledGlob {
  const components = pattern.split('/').filter((component) => component !== '' && component !== '.');
  const fixed = components.findIndex((component) => SPECIAL.test(component));
  const base = components.slice(0, fixed === -1 ? Math.max(components.length - 1, 0) : fixed);
  const expression = new RegExp(`^${components.map(translateComponent).join('')}$`, 'su');
  return { base: `/${base.join('/')}`, matches: (path) => expression.test(path) };
}

/** The expression for one component with the slash before it. */
function translateComponent(component: string): string {
  return component === '**' ? '(?:/[^/]+)*?' : `/${translate(component)}`;
}

function translate(text: string): string {
  let expression = '';
  for (let at = 0; at < text.length; ) {
    const [translated, length] = translateAt(text, at);
    expression += translated;
    at += length;
  }
  return expression;
}

/** What the pattern has at a place: its expression, and how many characters it takes. */
function translateAt(text: string, at: number): [expression: string, length: number] {
  const rest = text.slice(at);
  const run = /^\*+/.exec(rest);
  if (run !== null) return ['[^/]*', run[0].length];
  if (rest.startsWith('?')) return ['[^/]', 1];
  const set = /^\[([!^]?)(\]?[^\]]*)\]/.exec(rest);
  if (set !== null) return [`(?=[^/])[${set[1] ? '^' : ''}${escapeSet(set[2] ?? '')}]`, set[0].length];
  const choice = /^\{([^{}]*)\}/.exec(rest);
  if (choice !== null)
    return [`(?:${(choice[1] ?? '').split(',').map(translate).join('|')})`, choice[0].length];
  const escaped = /^\\(.)/su.exec(rest);
  if (escaped !== null) return [escapeText(escaped[1] ?? ''), escaped[0].length];
  const character = String.fromCodePoint(rest.codePointAt(0)!);
  return [escapeText(character), character.length];
}

/** Ranges stay ranges. */
function escapeSet(characters: string): string {
  return characters.replaceAll(/[\\\]^[&~|]/g, '\\$&');
}

function escapeText(character: string): string {
  return /[\^$\\.*+?()[\]{}|/]/.test(character) ? `\\${character}` : character;
}

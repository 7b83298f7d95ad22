/** A text as one word of any shell, whatever it holds. */
export function quoteWord(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Splits shell text at those line breaks that are not inside quotes. Lines that hold nothing are left out. */
export function splitCommandLines(text: string): string[] {
  const lines: string[] = [];
  let line = '';
  let quote = '';
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!;
    if (character === '\\' && quote !== "'") {
      line += character + (text[++at] ?? '');
    } else if (character === '\n' && quote === '') {
      lines.push(line);
      line = '';
    } else {
      if (quote === '' ? character === "'" || character === '"' : character === quote)
        quote = quote === '' ? character : '';
      line += character;
    }
  }
  return [...lines, line].filter((entry) => entry.trim() !== '');
}

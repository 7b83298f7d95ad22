const SPECIAL = [',', '"', '\r', '\n'];

/** One line of CSV, with its end. Fields are quoted only where they have to be. */
export function toCsvLine(fields: readonly string[]): string {
  return `${fields.map(quote).join(',')}\n`;
}

function quote(field: string): string {
  if (!SPECIAL.some((character) => field.includes(character))) return field;
  return `"${field.replaceAll('"', '""')}"`;
}

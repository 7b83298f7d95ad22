import { emptyTable, isTable, memberOf, type TomlTable } from './toml-table.js';

/**
 * The part of a table that the key paths name. A path that ends early, at a value that is no table, selects that value:
 * it is what the path would be read from. A table on the way stays even when nothing below it is selected.
 */
export function selectKeys(table: TomlTable, paths: readonly (readonly string[])[]): TomlTable {
  const selected = emptyTable();
  for (const [key, value] of Object.entries(table)) {
    const rests = paths.filter(([head]) => head === key).map((path) => path.slice(1));
    if (rests.length === 0) continue;
    const whole = !isTable(value) || rests.some((rest) => rest.length === 0);
    selected[key] = whole ? value : selectKeys(value, rests);
  }
  return selected;
}

/** Whether the paths name anything in the table. */
export function selectsAnything(table: TomlTable, paths: readonly (readonly string[])[]): boolean {
  return paths.some(([head]) => head !== undefined && memberOf(table, head) !== undefined);
}

import { TomlDate } from 'smol-toml';

/** A value of a TOML document; integers are bigints, floats are numbers. */
export type TomlValue = string | number | bigint | boolean | TomlDate | TomlValue[] | TomlTable;
export interface TomlTable {
  [key: string]: TomlValue;
}

export function isTable(value: TomlValue | undefined): value is TomlTable {
  return typeof value === 'object' && !Array.isArray(value) && !(value instanceof TomlDate);
}

/** The member of that name, never something that every object has. */
export function memberOf(table: TomlTable, key: string): TomlValue | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

/** A table without inherited members, so that any key is just a key. */
export function emptyTable(): TomlTable {
  return Object.create(null) as TomlTable;
}

/** Lays `over` on `base`: tables are merged, everything else is replaced. Neither is changed. */
export function mergeTables(base: TomlTable, over: TomlTable): TomlTable {
  const merged = Object.assign(emptyTable(), base);
  for (const [key, value] of Object.entries(over)) {
    const below = memberOf(base, key);
    merged[key] = isTable(below) && isTable(value) ? mergeTables(below, value) : value;
  }
  return merged;
}

/** A value in the words of an error message: itself when it is plain, else its kind. */
export function describeValue(value: TomlValue): string {
  if (Array.isArray(value)) return 'sequence';
  if (value instanceof TomlDate) return value.toISOString();
  return typeof value === 'object' ? 'map' : String(value);
}

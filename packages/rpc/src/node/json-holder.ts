/** An object or a list that is being put together. */
export type Holder = Record<string, unknown> | unknown[];

/** Puts a value behind the others of a list, or at a key of an object. */
export function put(holder: Holder, key: string, value: unknown): void {
  if (Array.isArray(holder)) holder.push(value);
  // As `JSON.parse` does it, for which this name is one like any other.
  else if (key !== '__proto__') holder[key] = value;
  else Object.defineProperty(holder, key, { value, configurable: true, enumerable: true, writable: true });
}

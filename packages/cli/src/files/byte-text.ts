const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const;
const STEP = 1024;

/** A size in its largest unit: `512 B`, `1.5 KiB`, `3.0 GiB`. */
export function toByteText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  // What would be written as 1024.0 is 1.0 of the next.
  while (value >= STEP - (unit === 0 ? 0 : 0.05) && unit < UNITS.length - 1) {
    value /= STEP;
    unit++;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${UNITS[unit]}`;
}

export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** How far the rounds lie apart: the widest distance as a share of the median. */
export function spread(values) {
  return (Math.max(...values) - Math.min(...values)) / median(values);
}

const STEPS = [
  ['d', 86_400],
  ['h', 3600],
  ['m', 60],
  ['s', 1],
] as const;

/** A duration in its largest unit, cut: `3d`, `5h`, `12m`, `40s`. */
export function toDurationText(durationMs: number): string {
  const seconds = Math.max(0, Math.floor(durationMs / 1000));
  const [unit, size] = STEPS.find(([, candidate]) => seconds >= candidate) ?? ['s', 1];
  return `${Math.floor(seconds / size)}${unit}`;
}

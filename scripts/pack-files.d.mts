export function packFiles(
  file: string,
  contents: ReadonlyMap<string, Uint8Array>,
  deflated?: ReadonlySet<string>,
): void;

import type { TomlTable } from './toml-table.js';

/** One file's part of the configuration. */
export interface ConfigLayer {
  /** The file for people. */
  readonly source: string;
  /** Directory that relative paths in it start at. */
  readonly baseDir: string;
  readonly table: TomlTable;
}

/** Layers, lowest precedence first. */
export interface ConfigStack {
  readonly layers: readonly ConfigLayer[];
  /** Where layers that come from elsewhere belong. */
  readonly cloudInsertionIndex: number;
}

import type * as z from 'zod/mini';
import { describe, integer, list, pathUri, text } from '../fields.js';
import { nullable, struct } from '../struct.js';

const keyPaths = (meaning: string) => list(list(text()), meaning);

export const EnvironmentConfigReadParams = struct('EnvironmentConfigReadParams', {
  cwd: pathUri('Directory whose configuration counts.'),
  configPaths: keyPaths('Key paths to select from the configuration.'),
  requirementsPaths: keyPaths('Key paths to select from the requirements.'),
});
export type EnvironmentConfigReadParams = z.output<typeof EnvironmentConfigReadParams>;

export const ConfigLayer = struct('EnvironmentConfigLayer', {
  source: text('Where the layer comes from.'),
  baseDir: nullable(pathUri('Directory that relative paths in it start at.')),
  toml: text('The selected keys as TOML.'),
});
export type ConfigLayer = z.output<typeof ConfigLayer>;

export const ConfigStack = struct('EnvironmentConfigStack', {
  layers: list(ConfigLayer, 'Layers, lowest precedence first.'),
  cloudInsertionIndex: integer('usize', 'Where a layer from elsewhere belongs.'),
});
export type ConfigStack = z.output<typeof ConfigStack>;

export const EnvironmentConfigReadResult = struct('EnvironmentConfigReadResponse', {
  userHomeDir: nullable(pathUri('Home directory of the user.')),
  codexHomeDir: pathUri('Directory of the user configuration.'),
  hostname: nullable(text('Name of the host.')),
  config: describe(ConfigStack, 'The selected configuration.'),
  requirements: describe(ConfigStack, 'The selected requirements.'),
});
export type EnvironmentConfigReadResult = z.output<typeof EnvironmentConfigReadResult>;

import * as z from 'zod/mini';
import { describe, flag, list, map, tagged, text } from '../fields.js';
import { defaulted, nullable, struct } from '../struct.js';

export const ConfigReadParams = struct('ConfigReadParams', {
  includeLayers: defaulted(flag('Tell what each source says, too. Default: false.')),
  cwd: nullable(text('Directory whose settings count. Those of this server are the same for all.')),
});
export type ConfigReadParams = z.output<typeof ConfigReadParams>;

export const ConfigLayerSource = tagged('ConfigLayerSource', 'type', {
  packagedDefaults: { file: text('File that comes with the server.') },
  user: { file: text('Configuration file that the server was started with.'), profile: z.nullable(text()) },
  sessionFlags: {},
});
export type ConfigLayerSource = z.output<typeof ConfigLayerSource>;

const version = text('`sha256:` and the digest of what the source says.');
const settings = (meaning: string) => map(z.unknown(), meaning);

export const ConfigLayerMetadata = struct('ConfigLayerMetadata', { name: ConfigLayerSource, version });
export type ConfigLayerMetadata = z.output<typeof ConfigLayerMetadata>;

export const ConfigLayer = struct('ConfigLayer', {
  name: ConfigLayerSource,
  version,
  config: settings('What this source says.'),
});
export type ConfigLayer = z.output<typeof ConfigLayer>;

export const ConfigReadResult = struct('ConfigReadResponse', {
  config: settings('What holds; `null` where nothing is set.'),
  origins: map(ConfigLayerMetadata, 'Which source each setting that is set has its value from.'),
  layers: nullable(describe(list(ConfigLayer), 'All sources, the strongest first.')),
});
export type ConfigReadResult = z.output<typeof ConfigReadResult>;

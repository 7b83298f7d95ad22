import { createHash } from 'node:crypto';
import type { app } from '@exec-server/protocol';
import type { ConfigurationLayer, ConfigurationSource, ServerConfiguration } from '../../configuration.js';
import type { AppMethod } from './conversation.js';
import { defineMethod } from './define-method.js';

/** The methods that tell of the server's settings. */
export function createConfigMethods(configuration: ServerConfiguration): AppMethod[] {
  const { layers, ...effective } = describeConfiguration(configuration);
  return [
    defineMethod('config/read', ({ includeLayers = false }) =>
      includeLayers ? { ...effective, layers } : effective,
    ),
  ];
}

function describeConfiguration(configuration: ServerConfiguration): Required<app.ConfigReadResult> {
  const layers = configuration.map(encodeLayer);
  const origins: Record<string, app.ConfigLayerMetadata> = {};
  for (const { name, version, config } of layers) {
    for (const [setting, value] of Object.entries(config)) {
      if (value !== null) origins[setting] = { name, version };
    }
  }
  const config = Object.assign({}, ...layers.map((layer) => layer.config)) as Record<string, unknown>;
  return { config, origins, layers: layers.reverse() };
}

function encodeLayer({ source, settings }: ConfigurationLayer): app.ConfigLayer {
  const named = Object.entries(settings).map(([name, value]) => [toSnakeCase(name), value] as const);
  // In one order, so that the same settings have the same version.
  const config = Object.fromEntries(named.sort(([left], [right]) => (left < right ? -1 : 1)));
  const digest = createHash('sha256').update(JSON.stringify(config)).digest('hex');
  return { name: encodeSource(source), version: `sha256:${digest}`, config };
}

function encodeSource(source: ConfigurationSource): app.ConfigLayerSource {
  switch (source.kind) {
    case 'defaults':
      return { type: 'packagedDefaults', file: source.file };
    case 'file':
      return { type: 'user', file: source.file, profile: null };
    case 'flags':
      return { type: 'sessionFlags' };
  }
}

function toSnakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

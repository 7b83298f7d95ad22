import * as z from 'zod/mini';
import { describe, flag, list, pathUri, text } from '../fields.js';
import { nullable, struct } from '../struct.js';
import { DiscoverySandboxContext, SandboxContext } from './sandbox.js';

export const CapabilityFile = struct('CapabilityFile', {
  path: pathUri('Path of the file.'),
  contents: text('Its text.'),
});
export type CapabilityFile = z.output<typeof CapabilityFile>;

const optionalFile = (meaning: string) => describe(z.nullable(CapabilityFile), meaning);

export const PluginFiles = struct('CapabilityPluginFiles', {
  manifest: describe(CapabilityFile, 'The manifest.'),
  mcpConfig: optionalFile('The MCP servers it configures.'),
  appsConfig: optionalFile('The apps it configures.'),
});
export type PluginFiles = z.output<typeof PluginFiles>;

/** Spelled out: inferred through the list around it, the type is deeper than the compiler follows. */
export interface CapabilityRoot {
  id: string;
  path: string;
  sandbox?: SandboxContext | undefined;
}
export const CapabilityRoot = struct('WireCapabilityRootDiscoverRequest', {
  id: text('Key of the root, chosen by the client.'),
  path: pathUri('Directory to look in.'),
  sandbox: nullable(describe(SandboxContext, 'What may be read.')),
}) as unknown as z.ZodMiniType<CapabilityRoot>;

export const CapabilityRootsDiscoverParams = struct('WireCapabilityRootsDiscoverParams', {
  roots: list(CapabilityRoot, 'Directories to look in, at most 128.'),
});
export type CapabilityRootsDiscoverParams = z.output<typeof CapabilityRootsDiscoverParams>;

export const SkillFiles = struct('CapabilitySkillFiles', {
  instructions: describe(CapabilityFile, 'Its `SKILL.md`.'),
  metadata: optionalFile('Its `agents/openai.yaml`.'),
});
export type SkillFiles = z.output<typeof SkillFiles>;

export const DiscoveredRoot = struct('CapabilityRootDiscoverResult', {
  id: text('The key, as given.'),
  path: pathUri('The directory, as given.'),
  plugin: describe(z.nullable(PluginFiles), 'The plugin that the root is.'),
  skills: list(SkillFiles, 'The skills below the root.'),
  namespaceManifests: list(CapabilityFile, 'All manifests that skills take their namespace from.'),
  warnings: list(text(), 'What could not be read.'),
  error: describe(z.nullable(text()), 'Why nothing could be read.'),
});
export type DiscoveredRoot = z.output<typeof DiscoveredRoot>;

export const CapabilityRootsDiscoverResult = struct('CapabilityRootsDiscoverResponse', {
  roots: list(DiscoveredRoot, 'One per root, in the order of the request.'),
});
export type CapabilityRootsDiscoverResult = z.output<typeof CapabilityRootsDiscoverResult>;

export const CapabilitiesDiscoverParams = struct('DiscoverV2CapabilitiesRequest', {
  cwd: pathUri('Directory the capabilities are for.'),
  sandbox: nullable(describe(DiscoverySandboxContext, 'What may be read.'), { omittable: true }),
});
export type CapabilitiesDiscoverParams = z.output<typeof CapabilitiesDiscoverParams>;

export const SkillPolicy = struct('SkillPolicy', {
  allowImplicitInvocation: describe(z.nullable(flag()), 'May be used without being named.'),
  products: list(text(), 'Products it is for.'),
});
export type SkillPolicy = z.output<typeof SkillPolicy>;

const skillMembers = {
  name: text('Name, with the name of its plugin in front.'),
  description: text('What it is for.'),
  shortDescription: describe(z.nullable(text()), 'The same in brief.'),
  path: pathUri('Its `SKILL.md`.'),
};
const dependencies = describe(z.unknown(), 'What it needs, as its metadata says.');
const policy = describe(z.nullable(SkillPolicy), 'How it may be used.');

export const PluginSkill = struct('DiscoveredPluginSkill', { ...skillMembers, dependencies, policy });
export type PluginSkill = z.output<typeof PluginSkill>;

export const DiscoveryRoot = struct('DiscoveryRoot', {
  id: text('Kind of place: `codex-home-skills`, `user-agent-skills`, `system-skills`.'),
  path: pathUri('The directory.'),
});
export type DiscoveryRoot = z.output<typeof DiscoveryRoot>;

export const DiscoveredSkill = struct('DiscoveredSkill', {
  ...skillMembers,
  discoveryRoot: describe(DiscoveryRoot, 'Where it was found.'),
  dependencies,
  policy,
});
export type DiscoveredSkill = z.output<typeof DiscoveredSkill>;

export const DiscoveredPlugin = struct('DiscoveredPlugin', {
  id: text('`<plugin>@<marketplace>`.'),
  displayName: text('Name for people.'),
  remotePluginId: describe(z.nullable(text()), 'Id at the marketplace.'),
  version: describe(z.nullable(text()), 'Version.'),
  root: pathUri('Directory of the plugin.'),
  files: describe(PluginFiles, 'Its files.'),
  skills: list(PluginSkill, 'Its skills.'),
});
export type DiscoveredPlugin = z.output<typeof DiscoveredPlugin>;

export const CapabilitiesDiscoverResult = struct('DiscoverV2CapabilitiesResponse', {
  plugins: list(DiscoveredPlugin, 'Installed plugins.'),
  skills: list(DiscoveredSkill, 'Skills that belong to no plugin.'),
  warnings: list(text(), 'What could not be read.'),
});
export type CapabilitiesDiscoverResult = z.output<typeof CapabilitiesDiscoverResult>;

import type {
  CapabilitiesDiscoverResult,
  CapabilityFile,
  PluginSkill,
  PluginFiles as WirePluginFiles,
} from '@exec-server/protocol';
import { showPath, type TextFile } from '../../capabilities/bundle.js';
import type { Installed } from '../../capabilities/discover-installed.js';
import type { Skill } from '../../capabilities/installed-skills.js';
import type { PluginFiles } from '../../capabilities/plugin-manifest.js';
import { toBytePath } from '../../fs/watch/byte-path.js';

/** What is installed, as the wire has it. */
export function encodeInstalled({ plugins, skills, warnings }: Installed): CapabilitiesDiscoverResult {
  return {
    plugins: plugins.map(({ id, displayName, remoteId, version, root, files, skills }) => ({
      id,
      displayName,
      remotePluginId: remoteId ?? null,
      version,
      root: showPath(toBytePath(Buffer.from(root))),
      files: encodePlugin(files),
      skills: skills.map(encodeSkill),
    })),
    skills: skills.map(({ discoveryRoot, ...skill }) => {
      const { dependencies, policy, ...named } = encodeSkill(skill);
      const place = { id: discoveryRoot.id, path: showPath(discoveryRoot.path) };
      return { ...named, discoveryRoot: place, dependencies, policy };
    }),
    warnings: [...warnings],
  };
}

function encodeSkill({
  name,
  description,
  shortDescription,
  path,
  dependencies,
  policy,
}: Skill): PluginSkill {
  return {
    name,
    description,
    shortDescription: shortDescription ?? null,
    path: showPath(path),
    dependencies,
    policy: policy && { ...policy, products: [...policy.products] },
  };
}

export function encodePlugin({ manifest, mcpConfig, appsConfig }: PluginFiles): WirePluginFiles {
  return {
    manifest: encodeFile(manifest),
    mcpConfig: encodeOptional(mcpConfig),
    appsConfig: encodeOptional(appsConfig),
  };
}

export function encodeOptional(file: TextFile | undefined): CapabilityFile | null {
  return file === undefined ? null : encodeFile(file);
}

export function encodeFile({ path, contents }: TextFile): CapabilityFile {
  return { path: showPath(path), contents };
}

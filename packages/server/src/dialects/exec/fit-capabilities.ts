import type { CapabilitiesDiscoverResult } from '@exec-server/protocol';

/** Most plugins and skills in one answer, each counting one. */
export const MAX_CAPABILITIES = 2_048;
/** Largest answer, in bytes of JSON. */
export const MAX_CAPABILITIES_BYTES = 4 * 1024 * 1024;
/** Most warnings in one answer. */
export const MAX_WARNINGS = 64;

const LIMIT_WARNING = 'capability discovery size limit reached';

/** Room for the frame of the answer and its warnings, in bytes of JSON. */
const FRAME_BYTES = 16 * 1024;

/** Leaves out what an answer cannot carry, later items first, and says so. */
export function fitCapabilities({
  plugins,
  skills,
  warnings,
}: CapabilitiesDiscoverResult): CapabilitiesDiscoverResult {
  let count = 0;
  let bytes = FRAME_BYTES;
  let cut = false;
  const admit = (capabilities: number, item: object): boolean => {
    const size = Buffer.byteLength(JSON.stringify(item)) + 1;
    const fits = count + capabilities <= MAX_CAPABILITIES && bytes + size <= MAX_CAPABILITIES_BYTES;
    if (fits) {
      count += capabilities;
      bytes += size;
    } else cut = true;
    return fits;
  };
  const keptPlugins = plugins.flatMap((plugin) => {
    const room = MAX_CAPABILITIES - count - 1;
    const fitting = { ...plugin, skills: plugin.skills.slice(0, Math.max(room, 0)) };
    if (fitting.skills.length < plugin.skills.length) cut = true;
    return admit(1 + fitting.skills.length, fitting) ? [fitting] : [];
  });
  const keptSkills = skills.filter((skill) => admit(1, skill));
  const allWarnings = cut ? [LIMIT_WARNING, ...warnings] : warnings;
  return { plugins: keptPlugins, skills: keptSkills, warnings: allWarnings.slice(0, MAX_WARNINGS) };
}

import { arch } from 'node:process';

/** A processor whose system calls are known here. */
export type Architecture = 'x64' | 'arm64';

/** This machine's processor; nothing when its system calls are not known, so that they cannot be filtered. */
export function thisArchitecture(): Architecture | undefined {
  return arch === 'x64' || arch === 'arm64' ? arch : undefined;
}

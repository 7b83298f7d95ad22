/** SHA-256 of the sandbox program for each processor. Written by `sandbox/build.sh`. */
export const PROGRAM_DIGESTS = {
  x64: '4aa6e0ba81abc45b893b0f0fc9acfc6acdcefe52d8caa6fb3966b79f0eb84edb',
  arm64: 'bde6de84ac2f5cd65c6dcbc14db81355610f450053e852f9a562afe14e0d933c',
} as const;

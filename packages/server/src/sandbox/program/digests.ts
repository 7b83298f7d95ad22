/** SHA-256 of the sandbox program for each processor. Written by `sandbox/build.sh`. */
export const PROGRAM_DIGESTS = {
  x64: '8ea05cba1d41f784be8b9e2f418d947815946f6c63e6cf440e66c5e097022b4b',
  arm64: '95314f5d80705177b675d028d05480b732055cc7662a574fa00dbecba652adb7',
} as const;

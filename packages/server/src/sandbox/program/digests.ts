/** SHA-256 of the sandbox program for each processor. Written by `sandbox/build.sh`. */
export const PROGRAM_DIGESTS = {
  x64: 'fdab1fe4c1a0e7080f1fe29c0c1c9ac9ebe5c56b0e739229616519d08b908d70',
  arm64: 'a1e7cf0fb9da766e378f5286d017c9ba8abd083f2db8bff48a5c0627320a5169',
} as const;

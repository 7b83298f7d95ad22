import { defineConfig } from 'vitest/config';

const source = (path: string) => new URL(`./packages/${path}`, import.meta.url).pathname;

export default defineConfig({
  resolve: {
    // Unit tests run on the sources; only tests that start the command use the build.
    alias: [
      { find: /^@exec-server\/(rpc|client)\/node$/, replacement: source('$1/src/node/index.ts') },
      {
        find: /^@exec-server\/client\/unified-exec$/,
        replacement: source('client/src/unified-exec/index.ts'),
      },
      { find: /^@exec-server\/jobs\/codex$/, replacement: source('jobs/src/codex/index.ts') },
      // Tests run in Node, which takes the entry of that condition.
      { find: /^@exec-server\/client$/, replacement: source('client/src/node/index.ts') },
      {
        find: /^@exec-server\/(protocol|rpc|server|jobs|testing)$/,
        replacement: source('$1/src/index.ts'),
      },
      { find: /^exec-server$/, replacement: source('cli/src/index.ts') },
    ],
  },
  test: {
    include: ['packages/*/test/**/*.test.ts', 'test/**/*.test.ts'],
    globalSetup: [
      // Sandboxed file operations run in a program of one file, which is made of these sources.
      './scripts/bundle-programs.mjs',
      // Secrets must not be logged, whatever else a test is about.
      './test/setup/watch-logs.ts',
    ],
    reporters: ['default', './test/setup/list-skipped.ts'],
    setupFiles: [
      // Newer versions of Node share more memory among small buffers; what depends on how much shows on every version.
      './test/setup/large-buffer-pool.ts',
      // Tests are about the version of Node that runs them.
      './test/setup/node-first.ts',
    ],
    pool: 'forks',
    // Most tests wait for processes; one core kept free, the default, would be half of a machine with two.
    maxWorkers: '100%',
    // Two runs of thousands of tests with real processes meet a stalled machine now and then. What fails twice is a defect;
    // what fails once is told in the report as a retry.
    retry: process.env.CI === undefined ? 0 : 1,
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});

#!/usr/bin/env node
'use strict';
const { isBundleCurrent, loadBundle } = require('./load-bundle.js');

async function main() {
  try {
    if (isBundleCurrent()) loadBundle('main.js');
    else await import('../dist/main.js');
  } catch (error) {
    if (error?.code !== 'ERR_MODULE_NOT_FOUND') throw error;
    process.stderr.write(
      `Error: exec-server is not built; run \`npm run build\` first\n(${error.message})\n`,
    );
    process.exitCode = 1;
  }
}

void main();

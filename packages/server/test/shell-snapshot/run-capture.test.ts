import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.js';
import { NativeLauncher } from '../../src/native/native-launcher.js';
import { MAX_CAPTURE_OUTPUT_BYTES, runCapture } from '../../src/shell-snapshot/run-capture.js';
import { silentLogger } from '../../src/telemetry/logger.js';
import { planOf } from '../native/launch-helper.js';
import { makeTempDirectory } from '../support/temp-directory.js';

const launcher = new NativeLauncher({ guardian: false, cgroups: false, logger: silentLogger });
afterAll(() => launcher.close());

it.each([
  [MAX_CAPTURE_OUTPUT_BYTES - 1, true],
  [MAX_CAPTURE_OUTPUT_BYTES, true],
  [MAX_CAPTURE_OUTPUT_BYTES + 1, false],
])('a login that prints %i bytes with its capture is kept: %s', async (bytes, kept) => {
  const file = join(await makeTempDirectory(), 'printed');
  const capturing = runCapture(planOf('/bin/sh', []), 'sh', {
    clock: systemClock,
    onLaunched: () => {},
    // In place of a shell, a program that prints what one would, in as many bytes as are wanted.
    launch: async ({ argv }) => {
      const nonce = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/.exec(argv[2] ?? '')?.[0];
      const capture = ['', '', '', '', '', '0022\n', 'A=1\0', ''].join(`\0${nonce}\0`);
      await writeFile(file, capture.padStart(bytes, 'x'));
      return launcher.launch(planOf('/bin/cat', [file]));
    },
  });
  if (kept) expect([...(await capturing).changed]).toEqual([['A', '1']]);
  else await expect(capturing).rejects.toThrow('the login prints too much');
});

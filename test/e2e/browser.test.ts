import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type * as sdk from '@exec-server/client';
import { requireProgram } from '@exec-server/testing';
import { chromium, type Page } from 'playwright-core';
import { expect, onTestFinished, test } from 'vitest';
import { bundleForBrowsers, rootEntry } from '../workspace/bundle-for-browsers.js';
import { serve } from './session.js';

/** In a container there is no sandbox to be had, and nothing beyond loopback to talk to. */
const CHROMIUM_FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** A browser takes its time to start on a machine with other things to do, in milliseconds. */
const BROWSER_TIMEOUT_MS = 120_000;

const TOKEN = 'a token with ümlaut and +/=';

/** What the script of the page sets. */
declare const bundled: typeof sdk;

/** Serves an empty page with the client in it; tells its origin. */
async function servePage(): Promise<string> {
  const { code } = await bundleForBrowsers(rootEntry('client'));
  const server = createServer((request, response) => {
    const isScript = request.url === '/client.js';
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
    response.end(isScript ? code : '<!doctype html><script src="/client.js"></script>');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function openPage(executablePath: string, origin: string): Promise<Page> {
  const browser = await chromium.launch({
    executablePath,
    args: CHROMIUM_FLAGS,
    timeout: BROWSER_TIMEOUT_MS,
  });
  onTestFinished(() => browser.close());
  const page = await browser.newPage();
  await page.goto(origin);
  return page;
}

test('a page of an allowed origin runs a command and a terminal, and learns what it may not do', {
  timeout: BROWSER_TIMEOUT_MS,
}, async (context) => {
  const executablePath = requireProgram('chromium', context);
  const origin = await servePage();
  const digest = createHash('sha256').update(TOKEN).digest('hex');
  const auth = ['--ws-auth', 'capability-token', '--ws-token-sha256', digest];
  const server = await serve('--allow-origin', origin, ...auth);
  const page = await openPage(executablePath, origin);

  const told = await page.evaluate(
    async ({ url, token }) => {
      const machine = await bundled.connect(url, { token });
      try {
        const run = await machine.run(['/bin/sh', '-c', 'cat; echo err >&2; exit 3'], { input: 'grüße' });
        const terminal = await machine.pty(['/bin/sh'], { cols: 91, rows: 17 });
        await terminal.write('stty size; exit 5\n');
        let shown = '';
        const decoder = new TextDecoder();
        for await (const bytes of terminal.stdout) shown += decoder.decode(bytes, { stream: true });
        const outcome = await terminal.wait();
        return {
          stdout: run.stdout.text(),
          stderr: run.stderr.text(),
          exitCode: run.exitCode,
          shown,
          outcome,
        };
      } finally {
        await machine.close();
      }
    },
    { url: server.url, token: TOKEN },
  );
  expect(told).toMatchObject({
    stdout: 'grüße',
    stderr: 'err\n',
    exitCode: 3,
    outcome: { kind: 'exited', exitCode: 5 },
  });
  expect(told.shown).toContain('17 91');

  const elsewhere = await serve('--allow-origin', 'http://elsewhere.example');
  const refusals = await page.evaluate(
    async ({ url, otherUrl }) => {
      const codeOf = (target: sdk.ConnectTarget, options?: sdk.ConnectOptions) =>
        bundled.connect(target, options).then(
          () => 'connected',
          (error: sdk.ExecServerError) => error.code,
        );
      return {
        wrongToken: await codeOf(url, { token: 'wrong' }),
        otherOrigin: await codeOf(otherUrl),
        unix: await codeOf('unix:///run/x.sock'),
        command: await codeOf({ command: ['exec-server'] }),
      };
    },
    { url: server.url, otherUrl: elsewhere.url },
  );
  expect(refusals).toEqual({
    wrongToken: 'connect_failed',
    otherOrigin: 'connect_failed',
    unix: 'usage',
    command: 'usage',
  });
});

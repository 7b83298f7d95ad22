import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { type CommandOptions, openWire, SpawnedCommand, UpgradeRefused } from '@exec-server/testing';
import { compareValues } from './matching.js';
import type { Bindings } from './placeholders.js';
import type { CliLine, HttpLine, UpgradeRefusedLine } from './transcript.js';

/** Makes the recorded plain HTTP request and compares the answer. */
export async function replayHttp(port: number, line: HttpLine, bindings: Bindings): Promise<string[]> {
  const outgoing = request({
    host: '127.0.0.1',
    port,
    method: line.method,
    path: line.path,
    headers: line.requestHeaders,
    agent: false,
  });
  outgoing.end();
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  const body = await text(response);
  return compareValues(
    { status: line.status, allow: line.allow, contentType: line.contentType, body: line.body },
    {
      status: response.statusCode,
      allow: response.headers.allow ?? null,
      contentType: response.headers['content-type'] ?? null,
      body,
    },
    bindings,
  );
}

/** Asks for an upgrade that must be refused. */
export async function replayRefusedUpgrade(
  url: string,
  line: UpgradeRefusedLine,
  bindings: Bindings,
): Promise<string[]> {
  try {
    const wire = await openWire(url + line.path, { headers: bindings.fill(line.requestHeaders) });
    wire.terminate();
    return [`upgrade: expected ${line.status}, but it was accepted`];
  } catch (error) {
    if (!(error instanceof UpgradeRefused)) throw error;
    return compareValues(
      { status: line.status, contentType: line.contentType, body: line.body },
      { status: error.status, contentType: error.headers['content-type'] ?? null, body: error.body },
      bindings,
    );
  }
}

/** Runs the command as recorded: to its end, or until it has said what it said then. */
export async function replayCommandLine(
  options: CommandOptions,
  line: CliLine,
  bindings: Bindings,
): Promise<string[]> {
  const command = new SpawnedCommand({ ...options, args: bindings.fill(line.args) });
  let stdout = '';
  command.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    stdout += chunk;
    // What a server says on stderr stands there before its banner does.
    if (line.exit === 'running' && stdout.includes('\n')) command.kill('SIGTERM');
  });
  if (line.exit !== 'running') command.stdin.end();
  const { code, signal } = await command.exited;
  const expectedCode = line.exit === 'running' ? 0 : line.exit;
  const stderr = dropNoise(command.stderr());
  return compareValues(
    { exit: expectedCode, stdout: line.stdout, stderr: line.stderr },
    {
      exit: code ?? signal,
      stdout,
      // After its first line a running server says what people like to read.
      stderr: line.exit === 'running' ? stderr.replace(/\n.*/s, '') : stderr,
    },
    bindings,
  );
}

/** The recordings have no blank lines, and were made where the reference could keep helpers in its home. */
export function dropNoise(output: string): string {
  return dropHelperWarning(output)
    .split('\n')
    .filter((line) => line.trim() !== '')
    .join('\n');
}

/** What the reference says where it cannot keep helpers in its home, as it could where it was recorded. */
export function dropHelperWarning(output: string): string {
  return output.replace(/^WARNING: proceeding, even though.*\n/gm, '');
}

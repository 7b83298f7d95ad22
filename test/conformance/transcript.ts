import { readdirSync, readFileSync } from 'node:fs';
import type { WireMessage } from '@exec-server/testing';
import { parseAppRecording } from './app-recording.js';

/** A message that the recording client sent; `raw` where it was not JSON or had to be spelled exactly. */
export interface ClientLine {
  readonly dir: 'c2s';
  readonly conn: string;
  readonly msg?: WireMessage;
  readonly raw?: string;
}

export interface ServerLine {
  readonly dir: 's2c';
  readonly conn: string;
  readonly msg: WireMessage;
}

export interface HttpAnswer {
  readonly status: number;
  readonly contentType: string | null;
  readonly body: string;
}

export type EventLine =
  | { readonly event: 'server-started'; readonly args: readonly string[]; readonly stdout: string }
  | { readonly event: 'open'; readonly conn: string; readonly path: string }
  | { readonly event: 'close'; readonly conn: string; readonly code: number; readonly reason: string }
  | HttpLine
  | UpgradeRefusedLine
  | { readonly event: 'jwt'; readonly case: string; readonly accepted: boolean }
  | CliLine
  | { readonly event: 'stdin-eof' }
  | { readonly event: 'exit'; readonly code: number | null; readonly signal: string | null }
  | { readonly event: 'timing'; readonly what: string }
  | { readonly event: 'side-effect'; readonly symlinkTargetStillExists: boolean }
  | { readonly event: 'note'; readonly text: string };

export interface HttpLine extends HttpAnswer {
  readonly event: 'http';
  readonly method: string;
  readonly path: string;
  readonly requestHeaders: Readonly<Record<string, string>>;
  readonly allow: string | null;
}

export interface UpgradeRefusedLine extends HttpAnswer {
  readonly event: 'upgrade-refused';
  readonly conn: string;
  readonly path: string;
  readonly requestHeaders: Readonly<Record<string, string>>;
}

export interface CliLine {
  readonly event: 'cli';
  readonly args: readonly string[];
  /** The exit code, or that the command was still running when the recording went on. */
  readonly exit: number | 'running';
  readonly stdout: string;
  readonly stderr: string;
}

export type Line = ClientLine | ServerLine | EventLine;

/** A line with the number it has in its file, for failure texts and expected differences. */
export interface NumberedLine {
  readonly number: number;
  readonly line: Line;
}

const DIRECTORY = new URL('./transcripts/', import.meta.url);

/** Recordings of the app-server, which have a folder and a format of their own. */
const APP_FOLDER = 'app/';

/** The names of all recorded scenarios, in order; those of the app dialect begin with `app/`. */
export function listScenarios(): string[] {
  return readdirSync(DIRECTORY, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.jsonl'))
    .map((file) => file.slice(0, -'.jsonl'.length))
    .sort();
}

export function isAppScenario(scenario: string): boolean {
  return scenario.startsWith(APP_FOLDER);
}

/** Conversations of the oldest generation, written down from what is known of it: no server of today has been recorded. */
export function isV0Scenario(scenario: string): boolean {
  return scenario.startsWith('v0/');
}

/** The lines of a recording without its heading. */
export function loadTranscript(scenario: string): NumberedLine[] {
  const content = readFileSync(new URL(`${scenario}.jsonl`, DIRECTORY), 'utf8');
  if (isAppScenario(scenario)) return parseAppRecording(scenario.slice(APP_FOLDER.length), content);
  return content
    .split('\n')
    .map((text, index) => ({ text, number: index + 1 }))
    .filter(({ text, number }) => text !== '' && number > 1)
    .map(({ text, number }) => ({ number, line: JSON.parse(text) as Line }));
}

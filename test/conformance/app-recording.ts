import type { WireMessage } from '@exec-server/testing';
import type { Line, NumberedLine } from './transcript.js';

/** A line of an app-server recording, which tells of everything but messages in prose. */
interface AppLine {
  readonly dir: 'c2s' | 's2c' | 'c2s-raw' | 'note';
  readonly conn?: string;
  readonly msg?: WireMessage | string;
  readonly text?: string;
  /** Length of an output delta whose base64 was cut. */
  readonly bytes?: number;
}

/** What the recordings say of a server's own machine right after the handshake; other servers have other news. */
const STARTUP_NEWS: ReadonlySet<unknown> = new Set(['configWarning', 'remoteControl/status/changed']);

/** Values of the recording's machine, by scenario, that the recordings spell out. */
const RECORDED_VALUES: Readonly<
  Record<string, readonly (readonly [recorded: string, placeholder: string])[]>
> = {
  '01-buffered': [['18353', '$PID']],
  '09-terminate': [['19471', '$PID']],
  '13-spawn-failures': [
    ['"/tmp\\n"', '"$TMPROOT\\n"'],
    ['"L3Jvb3QNCg=="', '"$TEXT:$HOME\\r\\n"'],
  ],
  '14-env': [['[/root]', '[$HOME]']],
};

/** Where a recording's client had to wait for something that it does not tell. */
const WAITS: Readonly<Record<string, Readonly<Record<number, string>>>> = {
  '09-terminate': { 20: 'the shell waits for `sleep 61`' },
  '21-control-during-drain': { 8: 'the shell has left `sleep 5` behind' },
};

export function isStartupNews({ method }: WireMessage): boolean {
  return STARTUP_NEWS.has(method);
}

/** Reads a recording of the app-server as the lines that the player knows. */
export function parseAppRecording(scenario: string, content: string): NumberedLine[] {
  const recorded = content.split('\n').map((text, index) => ({ text, number: index + 1 }));
  const lines = recorded
    .filter(({ text }) => text !== '')
    .flatMap(({ text, number }) => {
      const read = translate(JSON.parse(usePlaceholders(scenario, text)) as AppLine);
      const wait = WAITS[scenario]?.[number];
      const steps: Line[] = wait === undefined ? read : [{ event: 'note', text: wait }, ...read];
      return steps.map((line) => ({ number, line }));
    });
  const started: NumberedLine = {
    number: 0,
    line: {
      event: 'server-started',
      args: ['app-server', '--listen', 'ws://127.0.0.1:0'],
      stdout: 'ws://127.0.0.1:$PORT\n',
    },
  };
  const needsServer = lines.some(({ line }) => !('dir' in line) || line.conn !== 'stdio');
  return needsServer && scenario !== '45-stdio' ? [started, ...joinRepeats(lines)] : joinRepeats(lines);
}

function usePlaceholders(scenario: string, text: string): string {
  const named = text.replace(/<(CWD|CODEX_HOME|PORT|PATH|TOKEN_FILE)>/g, '$$$1');
  return (RECORDED_VALUES[scenario] ?? []).reduce(
    (edited, [value, placeholder]) => edited.replaceAll(value, placeholder),
    named,
  );
}

function translate(line: AppLine): Line[] {
  const { dir, conn = '', msg } = line;
  if (dir === 'note') return [translateNote(line.text ?? '')];
  if (dir === 'c2s-raw') return [{ dir: 'c2s', conn, raw: `${msg as string}\n` }];
  const message = msg as WireMessage;
  if (dir === 'c2s') return [{ dir, conn, msg: message }];
  return isStartupNews(message) ? [] : [{ dir, conn, msg: restore(message, line.bytes) }];
}

function translateNote(text: string): Line {
  const opened = /^connection (\w+) opened$/.exec(text)?.[1];
  if (opened !== undefined) return { event: 'open', conn: opened, path: '/' };
  const [, conn, code, reason] = /^connection (\w+) closed: code=(\d+) reason=(.*)$/.exec(text) ?? [];
  if (conn !== undefined) return { event: 'close', conn, code: Number(code), reason: reason ?? '' };
  if (text === 'stdin closed by the client') return { event: 'stdin-eof' };
  return { event: 'note', text: text.replace(/\\n\\nStack backtrace:.*(?="$)/, '') };
}

/** Puts back what the recording cut out of long values or replaced by a fixed one. */
function restore(message: WireMessage, bytes: number | undefined): WireMessage {
  const restored = mapValues(message, (name, value) => {
    if (name === 'emittedAtMs' || name === 'modifiedAtMs') return '$MS';
    if (name === 'userAgent') return '$USER_AGENT';
    if (typeof value !== 'string') return value;
    const length = /^.+\.\.\.<(\d+) chars>$/.exec(value)?.[1];
    if (length !== undefined) return value.charAt(0).repeat(Number(length));
    // What was cut is one byte, over and over.
    return /\.\.\.<\d+ base64 chars>$/.test(value)
      ? Buffer.alloc(bytes ?? 0, Buffer.from(value, 'base64').subarray(0, 1)).toString('base64')
      : value;
  });
  return restored as WireMessage;
}

function mapValues(value: unknown, map: (name: string, value: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => mapValues(item, map));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, map(name, mapValues(member, map))]),
  );
}

/** How many notifications a run of changes makes is a matter of time; that one comes is not. */
function joinRepeats(lines: readonly NumberedLine[]): NumberedLine[] {
  return lines.filter(({ line }, index) => {
    const previous = lines[index - 1]?.line;
    if (!('dir' in line) || line.dir !== 's2c' || line.msg.method !== 'fs/changed') return true;
    return JSON.stringify(previous) !== JSON.stringify(line);
  });
}

import type { CommandOptions, RunningServer, StdioServer, Wire } from '@exec-server/testing';
import type { Bindings } from '../placeholders.js';

/** What somebody who does as a note says has at hand. */
export interface NoteContext {
  readonly cwd: string;
  readonly bindings: Bindings;
  /** How the command under test is run, but for its arguments. */
  readonly command: CommandOptions;
  /** The server that the recording talks to. */
  readonly server: () => RunningServer;
  /** The server that it talks to over stdio. */
  readonly stdio: () => StdioServer;
  readonly wire: (conn: string) => Wire | StdioServer;
  /** Another server, with these arguments; it is started once and ends with the scenario. */
  readonly start: (args: readonly string[]) => Promise<RunningServer>;
  /** Has `clean` called when the scenario is over. */
  readonly atEnd: (clean: () => void) => void;
}

/** Does what the note tells of and gives the note as it reads here; nothing where there is nothing to compare. */
export type NoteAct = (context: NoteContext, note: RegExpExecArray) => Promise<string | undefined>;

/** Notes of a kind, and what to do about them. */
export type NoteActs = readonly (readonly [note: RegExp, act: NoteAct])[];

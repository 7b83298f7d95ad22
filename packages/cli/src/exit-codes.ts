/**
 * What the command exits with. `run` and `attach` exit as the command they follow did, 128+n for signal n, and tell
 * their own failures by the codes that docker, env and timeout use.
 */
export const ExitCode = {
  success: 0,
  failure: 1,
  usage: 2,
  /** `run`: the time limit of the command has passed. */
  timedOut: 124,
  /** `run` and `attach`: exec-server itself failed, or how the command ended is not known. */
  ownFailure: 125,
  /** `run`: the command is there but cannot be run. */
  cannotRun: 126,
  /** `run`: there is no such command. */
  notFound: 127,
} as const;

/** What a process that dies by a signal exits with, as shells count: this and its number. */
export const SIGNAL_EXIT_BASE = 128;

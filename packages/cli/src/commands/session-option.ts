import type { Command } from 'commander';

/** Adds `--session`, for ids that several sessions use. */
export function addSessionOption(command: Command): Command {
  return command.option('--session <ID>', 'session of the process, where several have one of that id');
}

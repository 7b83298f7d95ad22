/** What the two families of methods that run programs say; they do the same under different names. */
export interface FamilyWords {
  /** The method that starts a process. */
  readonly start: string;
  duplicate(id: string): string;
  unknown(id: string): string;
  /** The process has exited and its end is about to be told. */
  ended(id: string): string;
  readonly noStdin: string;
  readonly emptyWrite: string;
  readonly emptySize: string;
  readonly spawnFailed: string;
}

export const COMMAND_WORDS: FamilyWords = {
  start: 'command/exec',
  duplicate: (id) => `duplicate active command/exec process id: ${JSON.stringify(id)}`,
  unknown: (id) => `no active command/exec for process id ${JSON.stringify(id)}`,
  ended: (id) => `command/exec ${JSON.stringify(id)} is no longer running`,
  noStdin: 'stdin streaming is not enabled for this command/exec',
  emptyWrite: 'command/exec/write requires deltaBase64 or closeStdin',
  emptySize: 'command/exec size rows and cols must be greater than 0',
  spawnFailed: 'failed to spawn command',
};

export const PROCESS_WORDS: FamilyWords = {
  start: 'process/spawn',
  duplicate: (id) => `duplicate active process handle: ${JSON.stringify(id)}`,
  unknown: (id) => `no active process for process handle ${JSON.stringify(id)}`,
  ended: (id) => `process ${JSON.stringify(id)} is no longer running`,
  noStdin: 'stdin streaming is not enabled for this process',
  emptyWrite: 'process/writeStdin requires deltaBase64 or closeStdin',
  emptySize: 'process size rows and cols must be greater than 0',
  spawnFailed: 'failed to spawn process',
};

import type { Row } from '../rows/row.js';

/** What the prompt of a worker is made of. */
export interface WorkerPrompt {
  readonly jobId: string;
  readonly itemId: string;
  /** With the values of the row filled in. */
  readonly instruction: string;
  readonly row: Row;
  /** JSON Schema of the result, where there is one. */
  readonly schema: unknown;
}

/** What an agent is told that works on one item. */
export function createWorkerPrompt({ jobId, itemId, instruction, row, schema }: WorkerPrompt): string {
  const demand =
    schema === undefined
      ? 'Your last message is the result of this item. End with it.'
      : 'Your last message is the result of this item: exactly one JSON object that matches the schema, and nothing else. End with it.';
  return [
    'You are processing one item for a generic agent job.',
    `Job ID: ${jobId}`,
    `Item ID: ${itemId}`,
    '',
    'Task instruction:',
    instruction,
    '',
    'Input row (JSON):',
    JSON.stringify(row, undefined, 2),
    '',
    'Expected result schema (JSON Schema or {}):',
    JSON.stringify(schema ?? {}, undefined, 2),
    '',
    demand,
  ].join('\n');
}

/** What a tool call gave to the model. */
export interface ToolOutput {
  /** The whole text, with what differs from run to run replaced: chunk ids, session ids, wall times. */
  readonly text: string;
  /** What the command wrote since the call before. */
  readonly output: string;
  /** By which later calls name the command; undefined once it has ended. */
  readonly sessionId: number | undefined;
}

const OUTPUT_HEADING = '\nOutput:\n';

export function readToolOutput(text: string): ToolOutput {
  const session = /^Process running with session ID (\d+)$/m.exec(text)?.[1];
  const heading = text.indexOf(OUTPUT_HEADING);
  return {
    text: text
      .replace(/^Chunk ID: [0-9a-f]{6}$/m, 'Chunk ID: <ID>')
      .replace(/^(Process running with session ID) \d+$/m, '$1 <ID>')
      .replaceAll(/^Wall time: [\d.]+ seconds$/gm, 'Wall time: <TIME>'),
    output: heading < 0 ? '' : text.slice(heading + OUTPUT_HEADING.length),
    sessionId: session === undefined ? undefined : Number(session),
  };
}

/** The text of a command that has ended, as the model sees it. */
export function endedText(exitCode: number, output: string): string {
  return [
    'Chunk ID: <ID>',
    'Wall time: <TIME>',
    `Process exited with code ${exitCode}`,
    `Original token count: ${countTokens(output)}`,
    `Output:\n${output}`,
  ].join('\n');
}

const BYTES_PER_TOKEN = 4;

/** The CLI's estimate, which tells how many bytes it got. */
export function countTokens(output: string): number {
  return Math.ceil(Buffer.byteLength(output) / BYTES_PER_TOKEN);
}

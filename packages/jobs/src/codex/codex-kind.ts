import { messageOf } from '../errors.js';
import { parseResult, type ResultCheck } from '../results/schema.js';
import { SCHEMA_FILE } from '../results/submit-report.js';
import type { AttemptEnd } from '../run/attempt-end.js';
import type { StdoutWatch, WorkerKind } from '../run/worker-kind.js';
import type { JobSettings } from '../store/job-settings.js';
import { Template } from '../template/template.js';
import { EventLines } from './event-lines.js';
import { NO_EVENTS, takeExecEvent, takeWarning } from './exec-events.js';
import { TURN_FAILED, TURN_INTERRUPTED } from './turn-status.js';
import { createWorkerPrompt } from './worker-prompt.js';

/** A worker that is the Codex CLI: its events say what became of its turn, and its last message is the result. */
export function createCodexKind(settings: JobSettings, check: ResultCheck): WorkerKind {
  const { id, command, columns, codex, schema } = settings;
  const template = new Template(codex?.instruction ?? '', new Set(columns));
  return {
    argv({ itemId, row }, { root }) {
      const prompt = createWorkerPrompt({ jobId: id, itemId, instruction: template.fill(row), row, schema });
      const schemaFlags = schema === undefined ? [] : ['--output-schema', `${root}/${SCHEMA_FILE}`];
      return [...command, 'exec', '--json', '--skip-git-repo-check', ...schemaFlags, prompt];
    },
    input: () => '',
    watch: () => watchTurn(schema === undefined ? undefined : check),
  };
}

/** Follows one turn. With a check the last message has to be a result of its own. */
export function watchTurn(check: ResultCheck | undefined): StdoutWatch {
  let progress = NO_EVENTS;
  const lines = new EventLines(
    (line) => {
      if (line.trim() === '') return;
      try {
        progress = takeExecEvent(progress, JSON.parse(line));
      } catch (error) {
        progress = takeWarning(progress, `an event is not JSON: ${messageOf(error)}`);
      }
    },
    () => {
      progress = takeWarning(progress, 'the stream lagged');
    },
  );
  return {
    take: (data) => lines.take(data),
    gap: () => lines.gap(),
    judge(failure) {
      lines.end();
      const { end, error, lastAgentMessage } = progress;
      if (end === 'completed' && failure === undefined) return toResult(lastAgentMessage, check);
      // What the turn itself says of its failure says more than the exit code.
      if (end === 'failed') return { status: 'failed', error: error ?? TURN_FAILED };
      const turn = end === 'completed' ? 'the turn completed' : TURN_INTERRUPTED;
      return {
        status: 'failed',
        error: [turn, failure, error].filter((words) => words !== undefined).join('; '),
      };
    },
  };
}

function toResult(message: string | null, check: ResultCheck | undefined): AttemptEnd {
  if (check === undefined) return { status: 'completed', result: { last_agent_message: message } };
  const parsed = parseResult(message ?? '', check);
  return 'result' in parsed
    ? { status: 'completed', result: parsed.result }
    : { status: 'failed', error: parsed.refusal };
}

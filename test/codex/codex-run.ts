import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, type Exit, SpawnedCommand } from '@exec-server/testing';
import { onTestFinished } from 'vitest';
import { type ConversationItem, type Question, ScriptedModel } from './scripted-model.js';
import type { Stage } from './stage.js';
import { readToolOutput, type ToolOutput } from './tool-output.js';

/** Where the CLI finds its environment: a URL, or the text of `environments.toml`. */
export type EnvironmentSource = { readonly url: string } | { readonly environmentsToml: string };

export interface CodexRunOptions {
  /** Added to its `config.toml`. @default nothing */
  readonly moreConfig?: string;
  /** What commands may touch. @default 'danger-full-access' */
  readonly sandbox?: 'danger-full-access' | 'workspace-write' | 'read-only';
}

/** Longest wait for the CLI, in milliseconds: it gives a lost server 25 seconds. */
const CLI_DEADLINE_MS = 28_000;

/** Bounds that the CLI sets to the time after which a call comes back without the command's end, in milliseconds. */
const MIN_YIELD_MS = 250;
const MAX_YIELD_MS = 30_000;

/** One `codex exec` whose model is the test. */
export class CodexRun {
  /** What the CLI told the model before anything was done: instructions, context, the prompt. */
  readonly opening: readonly ConversationItem[];
  #question: Question;
  #calls = 0;

  private constructor(
    private readonly command: SpawnedCommand,
    private readonly model: ScriptedModel,
    question: Question,
  ) {
    this.opening = question.input;
    this.#question = question;
  }

  /** Starts the CLI and waits for its first question. */
  static async start(
    codexBin: string,
    stage: Stage,
    environment: EnvironmentSource,
    { moreConfig = '', sandbox = 'danger-full-access' }: CodexRunOptions = {},
  ): Promise<CodexRun> {
    const model = await ScriptedModel.start();
    onTestFinished(() => model[Symbol.asyncDispose]());
    writeFileSync(join(stage.codexHome, 'config.toml'), describeModel(model.baseUrl) + moreConfig);
    if ('environmentsToml' in environment)
      writeFileSync(join(stage.codexHome, 'environments.toml'), environment.environmentsToml);
    const command = new SpawnedCommand({
      command: [codexBin],
      args: ['exec', '--skip-git-repo-check', '--sandbox', sandbox, 'Do as scripted.'],
      cwd: stage.work,
      env: 'url' in environment ? { ...stage.env, CODEX_EXEC_SERVER_URL: environment.url } : stage.env,
    });
    onTestFinished(async () => void (await command.stop()));
    command.stdin.end();
    command.stdout.resume();
    return new CodexRun(command, model, await nextQuestion(command, model));
  }

  /** Has the model call a tool; gives what the CLI answered to the model. */
  async call(name: string, params: object, namespace?: string): Promise<ToolOutput> {
    const call_id = `call-${++this.#calls}`;
    const item = { type: 'function_call', call_id, namespace, name, arguments: JSON.stringify(params) };
    this.#question.answer(item);
    this.#question = await nextQuestion(this.command, this.model);
    const answer = this.#question.input.find(
      (candidate) => candidate.type === 'function_call_output' && candidate.call_id === call_id,
    );
    return readToolOutput(readText(answer?.output));
  }

  /** Runs a shell command to its end. */
  run(cmd: string, params: object = {}): Promise<ToolOutput> {
    return this.call('exec_command', { cmd, yield_time_ms: MAX_YIELD_MS, ...params });
  }

  /** Starts a shell command that goes on: it comes back as soon as the CLI allows. */
  startCommand(cmd: string, params: object = {}): Promise<ToolOutput> {
    return this.call('exec_command', { cmd, yield_time_ms: MIN_YIELD_MS, ...params });
  }

  /** Types into a command that goes on; comes back when it has ended. */
  type({ sessionId }: ToolOutput, chars: string): Promise<ToolOutput> {
    return this.call('write_stdin', { session_id: sessionId, chars, yield_time_ms: MAX_YIELD_MS });
  }

  /** Waits for the end of a command that goes on; gives what it has written since. */
  waitForEnd(started: ToolOutput): Promise<ToolOutput> {
    return this.type(started, '');
  }

  /** Ends the turn and waits for the end of the CLI. */
  async finish(): Promise<Exit> {
    this.#question.answer({
      type: 'message',
      role: 'assistant',
      id: 'last',
      content: [{ type: 'output_text', text: 'Done.' }],
    });
    return before(
      this.command.exited,
      () => this.command.failure('did not end after its turn'),
      CLI_DEADLINE_MS,
    );
  }
}

async function nextQuestion(command: SpawnedCommand, model: ScriptedModel): Promise<Question> {
  const ended = command.exited.then(({ code, signal }) => {
    throw command.failure(`ended with ${signal ?? code} before its next question`);
  });
  return before(
    Promise.race([model.next(), ended]),
    () => command.failure('did not ask the model'),
    CLI_DEADLINE_MS,
  );
}

/** Tools of the CLI itself answer with a text, those of other servers with a list of contents. */
function readText(output: unknown): string {
  if (typeof output === 'string') return output;
  if (!Array.isArray(output)) throw new Error(`the model got no text: ${JSON.stringify(output)}`);
  return (output as { text: string }[]).map(({ text }) => text).join('\n');
}

/** A configuration with which the CLI talks to nobody but the model. */
/** What the CLI is told of its model, for its `config.toml`. */
export function describeModel(baseUrl: string): string {
  return `
model = "scripted"
model_provider = "scripted"
approval_policy = "never"
check_for_update_on_startup = false

[model_providers.scripted]
name = "scripted"
base_url = "${baseUrl}"
wire_api = "responses"
requires_openai_auth = false
request_max_retries = 0
stream_max_retries = 0

[features]
apps = false
plugins = false

[analytics]
enabled = false
`;
}

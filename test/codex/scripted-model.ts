import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** An item of a conversation as the Responses API has it. */
export interface ConversationItem {
  readonly type: string;
  readonly [member: string]: unknown;
}

/** A model call of the CLI that waits for its answer. */
export interface Question {
  /** The whole conversation so far, the newest item last. */
  readonly input: readonly ConversationItem[];
  /** Ends the call with one item: a tool call, or a message that ends the turn. */
  answer(item: ConversationItem): void;
  /** Ends the call with the error of a server. */
  fail(): void;
}

const USAGE = {
  input_tokens: 1,
  input_tokens_details: null,
  output_tokens: 1,
  output_tokens_details: null,
  total_tokens: 2,
} as const;

/** A model on loopback that says what the test makes it say. */
export class ScriptedModel implements AsyncDisposable {
  readonly #server: Server;
  readonly #questions: Question[] = [];
  readonly #waiters: ((question: Question) => void)[] = [];
  #answered = 0;

  private constructor() {
    this.#server = createServer((request, response) => void this.#receive(request, response));
  }

  static async start(): Promise<ScriptedModel> {
    const model = new ScriptedModel();
    model.#server.listen(0, '127.0.0.1');
    await once(model.#server, 'listening');
    return model;
  }

  /** What goes into the `base_url` of a model provider. */
  get baseUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  /** The next question that no other call has taken. */
  async next(): Promise<Question> {
    return this.#questions.shift() ?? new Promise((resolve) => this.#waiters.push(resolve));
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== 'POST' || request.url !== '/v1/responses') {
      response.writeHead(404).end();
      return;
    }
    const { input } = JSON.parse(await text(request)) as Pick<Question, 'input'>;
    const question = {
      input,
      answer: (item: ConversationItem) => this.#stream(response, item),
      fail: () => void response.writeHead(500).end(),
    };
    const waiter = this.#waiters.shift();
    if (waiter === undefined) this.#questions.push(question);
    else waiter(question);
  }

  #stream(response: ServerResponse, item: ConversationItem): void {
    const id = `response-${++this.#answered}`;
    const events = [
      { type: 'response.created', response: { id } },
      { type: 'response.output_item.done', item },
      { type: 'response.completed', response: { id, usage: USAGE } },
    ];
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

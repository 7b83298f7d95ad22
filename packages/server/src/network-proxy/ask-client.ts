import {
  decodeResult,
  MAX_POLICY_HOST_BYTES,
  MAX_POLICY_REASON_BYTES,
  type NetworkTarget,
  SERVER_REQUESTS,
} from '@exec-server/protocol';
import type { Denial } from './decision.js';

/** What the client has on top of the time that it set itself: for the way there and back, in milliseconds. */
export const ANSWER_GRACE_MS = 5_000;

/** Questions of one proxy that may wait for an answer at once; more are denied. */
export const MAX_OPEN_QUESTIONS = 64;

/** Sends a question to the client. Rejects without an answer: nobody is there, it took too long, it was an error. */
export type SendQuestion = (
  target: NetworkTarget,
  options: { readonly timeoutMs: number; readonly signal: AbortSignal },
) => Promise<unknown>;

export interface AskOptions {
  readonly send: SendQuestion;
  /** How long the client has for its decision, in milliseconds. */
  readonly timeoutMs: number;
  /** Ends all questions; they count as denied. */
  readonly signal: AbortSignal;
}

const NO_ANSWER: Denial = { decision: 'deny', source: 'decider', reason: 'not_allowed' };

/** Leaves to the client what the rules leave open. Whatever is no clear permission is a denial. */
export class ClientDecider {
  #open = 0;

  constructor(private readonly options: AskOptions) {}

  /** Why not, or nothing when the client allows it. Never rejects. */
  async decide({ protocol, host, port }: NetworkTarget): Promise<Denial | undefined> {
    if (!isPresentable(host) || this.#open >= MAX_OPEN_QUESTIONS) return NO_ANSWER;
    this.#open++;
    try {
      const { send, timeoutMs, signal } = this.options;
      const patience = { timeoutMs: timeoutMs + ANSWER_GRACE_MS, signal };
      return readAnswer(await send({ protocol, host, port }, patience));
    } catch {
      return NO_ANSWER;
    } finally {
      this.#open--;
    }
  }
}

function readAnswer(answer: unknown): Denial | undefined {
  const { decision } = decodeResult(SERVER_REQUESTS['network/policyRequest'].result, answer);
  if (decision.type === 'allow') return undefined;
  const { type, reason } = decision;
  if (Buffer.byteLength(reason) > MAX_POLICY_REASON_BYTES || /\p{Cc}/u.test(reason)) return NO_ANSWER;
  return { decision: type, source: 'decider', reason: reason === '' ? 'policy_denied' : reason };
}

function isPresentable(host: string): boolean {
  return host !== '' && Buffer.byteLength(host) <= MAX_POLICY_HOST_BYTES && !/[\p{Cc}\s]/u.test(host);
}

import { decodeResult, ERROR_REASONS, ErrorCode, readErrorReason } from '@exec-server/protocol';
import { before, type WireMessage } from '@exec-server/testing';
import fc from 'fast-check';
import { expect } from 'vitest';
import type * as z from 'zod/mini';
import { nearlyValid, type Replacements, validValue } from './schema-values.js';

/** The requests of a dialect by their names. */
export type Methods = Readonly<
  Record<string, { readonly params: z.ZodMiniType; readonly result: z.ZodMiniType }>
>;

export interface RandomRequest {
  readonly method: string;
  readonly params: unknown;
}

/** What all wires have in common. */
interface AnyWire {
  readonly received: readonly WireMessage[];
  readonly closed: Promise<unknown>;
  request(method: string, params: unknown): Promise<WireMessage>;
}

/** Codes that a request may be refused with. */
const REFUSALS: readonly number[] = Object.values(ErrorCode).filter(
  (code) => code !== ErrorCode.transportClosed,
);

/** Methods that change files: they get the paths that they are given and nothing else. */
const CHANGING: ReadonlySet<string> = new Set([
  'fs/writeFile',
  'fs/open',
  'fs/writeBlock',
  'fs/createDirectory',
  'fs/remove',
  'fs/copy',
  'fs/rename',
  'fs/setMode',
  'fs/symlink',
]);

/** Requests of every method, most as its schema describes them, some nearly so. */
export function randomRequests(
  methods: Methods,
  replacements: Replacements,
): fc.Arbitrary<readonly RandomRequest[]> {
  const request = Object.entries(methods).map(([method, { params: schema }]) => {
    const valid = validValue(schema, replacements);
    const params = CHANGING.has(method)
      ? valid
      : fc.oneof({ weight: 3, arbitrary: valid }, { weight: 1, arbitrary: nearlyValid(valid) });
    return params.map((value) => ({ method, params: value }));
  });
  return fc.array(fc.oneof(...request), { minLength: 1, maxLength: 8 });
}

/** Sends all at once: each gets one answer, with a result as described or an error with a code, unless the connection ends. */
export async function expectAnswers(
  wire: AnyWire,
  requests: readonly RandomRequest[],
  methods: Methods,
): Promise<void> {
  const answers = await Promise.all(
    requests.map(({ method, params }) => answerOrEnd(wire, wire.request(method, params))),
  );
  for (const [index, answer] of answers.entries()) {
    const { method } = requests[index] as RandomRequest;
    if (answer?.result !== undefined)
      decodeResult((methods[method] as Methods[string]).result, answer.result);
    else if (answer !== undefined) {
      expect(REFUSALS, `${method}: ${answer.error?.message}`).toContain(answer.error?.code);
      expect(ERROR_REASONS, method).toHaveProperty(readErrorReason(answer.error?.data)!);
    }
  }
  const ids = wire.received.filter(({ method }) => method === undefined).map((message) => message.id);
  expect(new Set(ids).size).toBe(ids.length);
}

/** The answer, or nothing when the connection has ended instead. */
export function answerOrEnd(
  wire: Pick<AnyWire, 'closed'>,
  answer: Promise<WireMessage>,
): Promise<WireMessage | undefined> {
  return answer.catch(async () => {
    await before(wire.closed, () => new Error('neither answered nor closed'));
    return undefined;
  });
}

import fc from 'fast-check';

/** What is started: an echo, something that prints and ends, something that runs on, and nothing that exists. */
export type ProgramName = 'cat' | 'print' | 'sleep' | 'missing';

/**
 * One thing that a client does, or that happens to it. `client` is one of two; `process` counts through what it has
 * started in its session. Steps that make no sense where they stand, such as a read without a process, are passed over.
 */
export type Step =
  | {
      readonly do: 'start';
      readonly client: number;
      readonly program: ProgramName;
      /** Takes the id of a process that there is or was instead of a new one. */
      readonly reuse?: number;
      /** Bytes of output retained. */
      readonly cap?: number;
    }
  | {
      readonly do: 'read';
      readonly client: number;
      readonly process: number;
      readonly afterSeq: number;
      readonly maxBytes?: number;
    }
  | {
      readonly do: 'write';
      readonly client: number;
      readonly process: number;
      readonly text: string;
      /** Sent a second time under the same id. */
      readonly twice: boolean;
    }
  | {
      readonly do: 'poll' | 'awaitEcho' | 'closeStdin' | 'interrupt' | 'terminate' | 'awaitEnd';
      readonly client: number;
      readonly process: number;
    }
  | { readonly do: 'list' | 'disconnect' | 'connect'; readonly client: number }
  | { readonly do: 'advance'; readonly ms: number };

export type Schedule = readonly Step[];

/** Longest schedule, in steps. Most faults show in few, and many short ones meet more of them than few long ones. */
const MAX_STEPS = 14;

// The first client and its first process get the most, so that what is done to one thing adds up.
const client = fc.constantFrom(0, 0, 0, 1);
const process = fc.constantFrom(0, 0, 0, 1, 2);

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record(
      {
        do: fc.constant('start' as const),
        client,
        program: fc.constantFrom<ProgramName>('cat', 'cat', 'cat', 'print', 'sleep', 'missing'),
        reuse: process,
        cap: fc.constantFrom(1, 8, 64),
      },
      { requiredKeys: ['do', 'client', 'program'], noNullPrototype: true },
    ),
  },
  {
    weight: 4,
    arbitrary: fc.record(
      {
        do: fc.constant('read' as const),
        client,
        process,
        afterSeq: fc.constantFrom(0, 0, 0, 1, 2, 3, 6),
        maxBytes: fc.nat({ max: 20 }),
      },
      { requiredKeys: ['do', 'client', 'process', 'afterSeq'], noNullPrototype: true },
    ),
  },
  {
    weight: 5,
    arbitrary: fc.record(
      {
        do: fc.constant('write' as const),
        client,
        process,
        text: fc.string({ maxLength: 12 }),
        twice: fc.boolean(),
      },
      { noNullPrototype: true },
    ),
  },
  {
    weight: 5,
    arbitrary: fc.record(
      {
        do: fc.constantFrom(
          'poll',
          'awaitEcho',
          'awaitEcho',
          'closeStdin',
          'interrupt',
          'terminate',
          'awaitEnd',
        ),
        client,
        process,
      },
      { noNullPrototype: true },
    ),
  },
  {
    weight: 4,
    arbitrary: fc.record(
      { do: fc.constantFrom('list', 'disconnect', 'connect', 'connect'), client },
      { noNullPrototype: true },
    ),
  },
  {
    weight: 2,
    arbitrary: fc.record(
      { do: fc.constant('advance' as const), ms: fc.constantFrom(1, 14_999, 15_000, 29_999, 30_000) },
      { noNullPrototype: true },
    ),
  },
);

export const schedule: fc.Arbitrary<Schedule> = fc.array(step, {
  minLength: 3,
  maxLength: MAX_STEPS,
  size: 'max',
});

/** A schedule as the test that plays it again. */
export function formatSchedule(steps: Schedule): string {
  const lines = steps.map((entry) => `    ${JSON.stringify(entry)},`);
  return [`test('a schedule that failed', () =>`, '  playSchedule([', ...lines, '  ]));'].join('\n');
}

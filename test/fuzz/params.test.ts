import {
  app,
  decodeParams,
  ERROR_REASONS,
  ErrorCode,
  METHODS,
  RpcError,
  readErrorReason,
  SERVER_NOTIFICATIONS,
  SERVER_REQUESTS,
  v0,
} from '@exec-server/protocol';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import type * as z from 'zod/mini';
import { testProperty } from './property.js';
import { nearlyValid, validValue } from './schema-values.js';

interface Dialect {
  readonly messages: Readonly<
    Record<string, { readonly params: z.ZodMiniType; readonly result?: z.ZodMiniType }>
  >;
  readonly decode: (schema: z.ZodMiniType, params: unknown) => unknown;
  /** What its clients are told of params that make no sense. */
  readonly refusal: number;
}

const dialects: Readonly<Record<string, Dialect>> = {
  exec: {
    messages: { ...METHODS, ...SERVER_NOTIFICATIONS, ...SERVER_REQUESTS },
    decode: decodeParams,
    refusal: ErrorCode.invalidParams,
  },
  'exec v0': {
    messages: { ...v0.METHODS, ...v0.SERVER_NOTIFICATIONS },
    decode: decodeParams,
    refusal: ErrorCode.invalidParams,
  },
  app: {
    messages: { ...app.METHODS, ...app.SERVER_NOTIFICATIONS },
    decode: app.decodeParams,
    refusal: ErrorCode.invalidRequest,
  },
};

/** A schema by its place in a dialect, and a value for it. */
function schemasOf({ messages }: Dialect): [string, z.ZodMiniType][] {
  return Object.entries(messages).flatMap(([name, { params, result }]): [string, z.ZodMiniType][] =>
    result === undefined
      ? [[name, params]]
      : [
          [name, params],
          [`result of ${name}`, result],
        ],
  );
}

describe.each(Object.entries(dialects))('%s', (_name, dialect) => {
  const { decode, refusal } = dialect;
  const schemas = schemasOf(dialect);
  const withValue = (make: (schema: z.ZodMiniType) => fc.Arbitrary<unknown>) =>
    fc.oneof(...schemas.map(([name, schema]) => make(schema).map((value) => ({ name, schema, value }))));

  testProperty(
    'what a schema describes is decoded, and decoded again the same',
    fc.property(withValue(validValue), ({ schema, value }) => {
      const decoded = decode(schema, value);
      expect(decode(schema, decoded)).toEqual(decoded);
    }),
    3_000,
  );

  testProperty(
    'whatever else there is, is decoded or refused by its code',
    fc.property(
      withValue((schema) => fc.oneof(nearlyValid(nearlyValid(validValue(schema))), fc.jsonValue())),
      ({ schema, value }) => {
        try {
          const decoded = decode(schema, value);
          expect(decode(schema, decoded ?? null)).toEqual(decoded);
        } catch (error) {
          expect(error).toBeInstanceOf(RpcError);
          expect((error as RpcError).code).toBe(refusal);
          expect((error as RpcError).message).not.toBe('');
          expect(ERROR_REASONS).toHaveProperty(readErrorReason((error as RpcError).data)!);
        }
        expect(Object.keys(Object.prototype)).toEqual([]);
      },
    ),
    5_000,
  );
});

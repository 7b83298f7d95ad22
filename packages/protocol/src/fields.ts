import * as z from 'zod/mini';
import { checkBase64 } from './base64.js';
import { type Annotation, deferSchema } from './deferred-schema.js';
import { describeVariants } from './describe.js';
import { PathUriError, parsePathUri } from './path-uri.js';
import {
  type Fields,
  fromPositional,
  nullDropper,
  type Problem,
  type ShapeOf,
  toShape,
  typeError,
} from './struct.js';
import { checkUuid } from './uuid.js';

type AnySchema = z.ZodMiniType;

/** The same schema with a meaning for the place where it is used. */
export function describe<S extends AnySchema>(schema: S, meaning: string | undefined): S {
  if (meaning === undefined) return schema;
  const copy = () => z.clone(schema, schema._zod.def as S['_zod']['def'], { parent: true });
  return deferSchema(copy, { description: meaning });
}

function description(meaning: string | undefined): Annotation | undefined {
  return meaning === undefined ? undefined : { description: meaning };
}

export function text(meaning?: string): z.ZodMiniString {
  return deferSchema(() => z.string({ error: typeError('a string') }), description(meaning));
}

export function flag(meaning?: string): z.ZodMiniBoolean {
  return deferSchema(() => z.boolean({ error: typeError('a boolean') }), description(meaning));
}

/** Largest values of the integer kinds. A 64-bit one arrives as the nearest double. */
const INTEGERS = {
  u16: [0, 2 ** 16 - 1],
  u32: [0, 2 ** 32 - 1],
  u64: [0, 2 ** 64],
  usize: [0, 2 ** 64],
  i32: [-(2 ** 31), 2 ** 31 - 1],
  i64: [-(2 ** 63), 2 ** 63],
  'a nonzero usize': [1, 2 ** 64],
} as const;

export type IntegerKind = keyof typeof INTEGERS;

/** An integer of the given kind. What is said of fractions and values out of range is the dialect's business. */
export function integer(
  kind: IntegerKind,
  meaning?: string,
  describeMisfit: (value: number, kind: IntegerKind) => string = () => 'invalid number',
): z.ZodMiniNumber {
  const [minimum, maximum] = INTEGERS[kind];
  const wrongType = typeError(kind);
  const error = (issue: Problem) =>
    typeof issue.input === 'number' ? describeMisfit(issue.input, kind) : wrongType(issue);
  const fits = (value: number) => Number.isInteger(value) && value >= minimum && value <= maximum;
  // A bound that a double cannot hold would be printed wrong.
  const bounds = {
    ...(Number.isSafeInteger(minimum) && { minimum }),
    ...(Number.isSafeInteger(maximum) && { maximum }),
  };
  return deferSchema(() => z.number({ error }).check(z.refine(fits, { error })), {
    type: 'integer',
    ...bounds,
    ...description(meaning),
  });
}

/** Text that must pass a check of its own. */
export function checkedText(
  findProblem: (text: string) => string | undefined,
  annotation: Annotation,
  expected = 'a string',
): z.ZodMiniString {
  const check: z.core.CheckFn<string> = (payload) => {
    const message = findProblem(payload.value);
    if (message !== undefined) payload.issues.push({ code: 'custom', message, input: payload.value });
  };
  return deferSchema(() => z.string({ error: typeError(expected) }).check(z.check(check)), annotation);
}

/** Bytes as standard base64. Stays text: whoever needs the bytes decodes them once, in the way that is fast there. */
export function base64(meaning?: string): z.ZodMiniString {
  return checkedText(checkBase64, { contentEncoding: 'base64', ...description(meaning) });
}

/** A path as a `file:` URI. */
export function pathUri(meaning?: string): z.ZodMiniString {
  return checkedText(checkPathUri, { format: 'uri', ...description(meaning) });
}

function checkPathUri(text: string): string | undefined {
  try {
    parsePathUri(text);
    return undefined;
  } catch (error) {
    if (error instanceof PathUriError) return error.message;
    throw error;
  }
}

export function uuid(meaning?: string): z.ZodMiniString {
  return checkedText(checkUuid, { format: 'uuid', ...description(meaning) });
}

/** One of several names. */
export function oneOf<const N extends readonly [string, ...string[]]>(
  names: N,
  meaning?: string,
): z.ZodMiniEnum<{ [K in N[number]]: K }> {
  const wrongType = typeError('string or map');
  const error = (issue: Problem) =>
    typeof issue.input === 'string'
      ? `unknown variant \`${issue.input}\`, expected ${describeVariants(names)}`
      : wrongType(issue);
  const build = () => z.enum(Object.fromEntries(names.map((name) => [name, name])), { error });
  return deferSchema(build, description(meaning)) as unknown as z.ZodMiniEnum<{ [K in N[number]]: K }>;
}

/**
 * @param isPlain whether a value is what decoding it would make of it. It need not know all such values; it is for lists
 *   that may be long, in which most are.
 */
export function list<S extends AnySchema>(
  element: S,
  meaning?: string,
  isPlain?: (value: unknown) => boolean,
): z.ZodMiniArray<S> {
  const build = () => {
    const schema = z.array(element, { error: typeError('a sequence') });
    if (isPlain !== undefined) keepPlain(schema, element, isPlain);
    return schema;
  };
  return deferSchema(build, description(meaning));
}

/** Has a list look into those of its elements only that are not plain. What is not in order is left to the whole schema. */
function keepPlain(schema: AnySchema, element: AnySchema, isPlain: (value: unknown) => boolean): void {
  const readAll = schema._zod.parse.bind(schema._zod);
  const keepOrRead: typeof readAll = (payload, context) => {
    if (!Array.isArray(payload.value)) return readAll(payload, context);
    const output: unknown[] = [];
    for (const value of payload.value as unknown[]) {
      const result = isPlain(value)
        ? { value, issues: [] }
        : element._zod.run({ value, issues: [] }, context);
      if (result instanceof Promise || result.issues.length > 0) return readAll(payload, context);
      output.push(result.value);
    }
    payload.value = output;
    return payload;
  };
  schema._zod.parse = keepOrRead;
  schema._zod.run = keepOrRead;
}

export type StringMap<S extends AnySchema> = z.ZodMiniPipe<
  z.ZodMiniTransform,
  z.ZodMiniRecord<z.ZodMiniString, S>
>;

/** Text to values. The one key that a plain object cannot hold safely is refused, because a record drops it unseen. */
export function map<S extends AnySchema>(value: S, meaning?: string): StringMap<S> {
  const build = () => {
    const refuseUnsafeKey = z.transform((input, context) => {
      if (typeof input === 'object' && input !== null && Object.hasOwn(input, '__proto__')) {
        context.issues.push({ code: 'custom', message: 'invalid key `__proto__`', input });
      }
      return input;
    });
    return z.pipe(refuseUnsafeKey, z.record(z.string(), value, { error: typeError('a map') }));
  };
  return deferSchema(build, description(meaning));
}

export type TaggedUnion<T extends string, V extends Readonly<Record<string, Fields>>> = z.ZodMiniPipe<
  z.ZodMiniTransform,
  z.ZodMiniDiscriminatedUnion<
    {
      [K in keyof V]: z.ZodMiniObject<{ [_ in T]: z.ZodMiniLiteral<K & string> } & ShapeOf<V[K]>>;
    }[keyof V][],
    T
  >
>;

/** An object whose member `tag` says which other members it has. `name` is the name of the reference's type. */
export function tagged<T extends string, const V extends Readonly<Record<string, Fields>>>(
  name: string,
  tag: T,
  variants: V,
): TaggedUnion<T, V> {
  return deferSchema(() => buildTagged(name, tag, variants));
}

function buildTagged<T extends string, const V extends Readonly<Record<string, Fields>>>(
  name: string,
  tag: T,
  variants: V,
): TaggedUnion<T, V> {
  const names = Object.keys(variants);
  const error = (issue: Problem) => {
    const { input } = issue;
    if (typeof input !== 'object' || input === null) {
      return typeError(`internally tagged enum ${name}`)(issue);
    }
    const value = (input as Record<string, unknown>)[tag];
    if (typeof value === 'string') return `unknown variant \`${value}\`, expected ${describeVariants(names)}`;
    return typeError('variant identifier')({ input: value, path: [tag] });
  };
  const options = names.map((variant) =>
    z.object({ [tag]: z.literal(variant), ...toShape(variants[variant] as Fields) }),
  );
  const droppers = new Map(names.map((variant) => [variant, nullDropper(variants[variant] as Fields)]));
  const normalize = z.transform((value: unknown) => {
    const named = Array.isArray(value) ? nameElements(value) : value;
    const variant = (named as Record<string, unknown> | null | undefined)?.[tag];
    return droppers.get(variant as string)?.(named) ?? named;
  });
  const nameElements = ([variant, ...elements]: readonly unknown[]) => {
    const fields = Object.hasOwn(variants, String(variant)) ? variants[String(variant)] : {};
    return { [tag]: variant, ...fromPositional(`struct variant ${name}`, fields as Fields, elements) };
  };
  const union = z.discriminatedUnion(tag, options as never, { error });
  return z.pipe(normalize as z.ZodMiniTransform<never, unknown>, union) as unknown as TaggedUnion<T, V>;
}

/** Params of a method that takes none: nothing, `null` or an empty object. */
export function unit(): z.ZodMiniPipe<z.ZodMiniTransform, z.ZodMiniNull> {
  const emptyToNull = z.transform((value: unknown) => (isEmptyObject(value) ? null : value));
  const schema = z.pipe(
    emptyToNull as z.ZodMiniTransform<null, unknown>,
    z.null({ error: typeError('unit') }),
  );
  return schema as unknown as z.ZodMiniPipe<z.ZodMiniTransform, z.ZodMiniNull>;
}

function isEmptyObject(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.keys(value).length === 0;
}

import * as z from 'zod/mini';
import { deferSchema } from './deferred-schema.js';
import { describeValue, describeVariants } from './describe.js';
import { invalidParams, MalformedMessageError } from './errors.js';

type AnySchema = z.ZodMiniType;

/** The part of a validation issue that its text is made from. */
export interface Problem {
  readonly code?: string | undefined;
  readonly input?: unknown;
  readonly path?: readonly PropertyKey[] | undefined;
  readonly keys?: unknown;
}

/** A member that may be absent. */
export interface OptionalField<S extends AnySchema = AnySchema> {
  readonly schema: S;
  /** Whether `null` is accepted and means absent. */
  readonly nullable: boolean;
  /** Whether a positional array may end before this member. */
  readonly omittable: boolean;
}

/** The members of a struct in declaration order: a bare schema is a required one. */
export type Fields = Readonly<Record<string, AnySchema | OptionalField>>;

export type ShapeOf<F extends Fields> = {
  [K in keyof F]: F[K] extends OptionalField<infer S> ? z.ZodMiniOptional<S> : Extract<F[K], AnySchema>;
};

export type Struct<F extends Fields, E extends Fields = Record<never, never>> = z.ZodMiniPipe<
  z.ZodMiniTransform,
  z.ZodMiniObject<ShapeOf<F> & ShapeOf<E>>
>;

export interface StructOptions<E extends Fields> {
  /** Optional members that the reference does not know. They have no place in the positional form. */
  readonly extensions?: E;
  /** What happens to members that are not declared. @default 'ignore' */
  readonly unknownMembers?: 'ignore' | 'refuse';
}

/**
 * A member that may be absent or `null`, which mean the same. In a positional array it must be there, as `null` if need
 * be, unless `omittable`.
 */
export function nullable<S extends AnySchema>(
  schema: S,
  options: { readonly omittable?: boolean } = {},
): OptionalField<S> {
  return { schema, nullable: true, omittable: options.omittable ?? false };
}

/** A member that has a default when absent; `null` is an error. */
export function defaulted<S extends AnySchema>(schema: S): OptionalField<S> {
  return { schema, nullable: false, omittable: true };
}

/**
 * An object of the wire. It decodes from an object, ignoring members that are not declared, or from a positional array
 * in declaration order. `name` is the name of the reference's type, which shows in its error texts.
 */
export function struct<F extends Fields, E extends Fields = Record<never, never>>(
  name: string,
  fields: F,
  options: StructOptions<E> = {},
): Struct<F, E> {
  return deferSchema(() => buildStruct(name, fields, options));
}

function buildStruct<F extends Fields, E extends Fields>(
  name: string,
  fields: F,
  options: StructOptions<E>,
): Struct<F, E> {
  const members = { ...fields, ...options.extensions };
  const expected = `struct ${name}`;
  const wrongType = typeError(expected);
  const error = (issue: Problem) =>
    issue.code === 'unrecognized_keys'
      ? `unknown field \`${(issue.keys as string[])[0]}\`, expected ${describeVariants(Object.keys(members))}`
      : wrongType(issue);
  const shape = toShape(members);
  const object =
    options.unknownMembers === 'refuse' ? z.strictObject(shape, { error }) : z.object(shape, { error });
  const names = Object.keys(fields);
  const dropNulls = nullDropper(members);
  const normalize = z.transform((value, context) => {
    if (!Array.isArray(value)) return dropNulls(value);
    if (value.length > names.length) {
      const message = `invalid length ${value.length}, expected fewer elements in array`;
      context.issues.push({ code: 'custom', message, input: value });
      return value;
    }
    return dropNulls(fromPositional(expected, fields, value));
  });
  // The transform hands on whatever it does not understand, and the object schema refuses it.
  const schema = z.pipe(normalize as z.ZodMiniTransform<Record<string, unknown>, unknown>, object);
  readPresentFirst(schema, members, options.unknownMembers === 'refuse');
  return schema as unknown as Struct<F, E>;
}

/**
 * Has the schema look at the members that are there and at no others, as long as they are all in order: most structs have
 * many that may be absent, and looking for each of them was most of what it took to decode one. Whatever is not in order
 * is left to the whole of the schema, which knows what to say.
 */
function readPresentFirst(schema: AnySchema, members: Fields, refusesOthers: boolean): void {
  const readAll = schema._zod.parse.bind(schema._zod);
  const known = new Map(Object.entries(members).map(([name, field]) => [name, describeField(field)]));
  const requiredCount = [...known.values()].filter(({ required }) => required).length;
  const readPresent: typeof readAll = (payload, context) => {
    const input = payload.value;
    if (typeof input !== 'object' || input === null || Array.isArray(input)) return readAll(payload, context);
    const output: Record<string, unknown> = {};
    let missing = requiredCount;
    for (const [name, value] of Object.entries(input)) {
      const field = known.get(name);
      if (field === undefined && refusesOthers) return readAll(payload, context);
      if (field === undefined || (value === null && field.nullable)) continue;
      const result = field.schema._zod.run({ value, issues: [] }, context);
      if (result instanceof Promise || result.issues.length > 0) return readAll(payload, context);
      output[name] = result.value;
      if (field.required) missing -= 1;
    }
    if (missing > 0) return readAll(payload, context);
    payload.value = output;
    return payload;
  };
  schema._zod.parse = readPresent;
  schema._zod.run = readPresent;
}

function describeField(field: AnySchema | OptionalField): {
  schema: AnySchema;
  nullable: boolean;
  required: boolean;
} {
  return isOptional(field)
    ? { schema: field.schema, nullable: field.nullable, required: false }
    : { schema: field, nullable: false, required: true };
}

/** Optional members accept `null` here for the sake of the JSON Schema; the values were dropped before. */
export function toShape(fields: Fields): Record<string, AnySchema> {
  const shape: Record<string, AnySchema> = {};
  for (const [name, field] of Object.entries(fields)) {
    if (!isOptional(field)) shape[name] = field;
    else shape[name] = z.optional(field.nullable ? z.nullable(field.schema) : field.schema);
  }
  return shape;
}

/** Makes a function that copies an object without those members that are `null` and may be absent. */
export function nullDropper(fields: Fields): (value: unknown) => unknown {
  const names = Object.keys(fields);
  const nullableNames = new Set(names.filter((name) => isNullable(fields[name])));
  return (value) => {
    if (typeof value !== 'object' || value === null) return value;
    const record = value as Record<string, unknown>;
    const isAbsent = (name: string) => record[name] === null && nullableNames.has(name);
    if (!names.some(isAbsent)) return value;
    return Object.fromEntries(Object.entries(record).filter(([name]) => !isAbsent(name)));
  };
}

function isNullable(field: AnySchema | OptionalField | undefined): boolean {
  return field !== undefined && isOptional(field) && field.nullable;
}

function isOptional(field: AnySchema | OptionalField): field is OptionalField {
  return Object.hasOwn(field, 'omittable');
}

/**
 * Gives the elements their names. A missing element becomes a symbol that says so: no schema accepts a symbol, so the
 * complaint comes in its turn, after complaints about the elements before it.
 */
export function fromPositional(
  expected: string,
  fields: Fields,
  elements: readonly unknown[],
): Record<string, unknown> {
  const entries = Object.entries(fields);
  const count = `${entries.length} ${entries.length === 1 ? 'element' : 'elements'}`;
  const record: Record<string, unknown> = {};
  for (const [index, [name, field]] of entries.entries()) {
    if (index < elements.length) record[name] = elements[index];
    else if (!isOptional(field) || !field.omittable) {
      record[name] = Symbol(`invalid length ${index}, expected ${expected} with ${count}`);
      break;
    }
  }
  return record;
}

/** Makes the text for a value of the wrong kind: the member is missing, or it is something else than `expected`. */
export function typeError(expected: string): (issue: Problem) => string {
  return (issue) => problemWith(issue) ?? `invalid type: ${describeValue(issue.input)}, expected ${expected}`;
}

/** The text for a member that is not there at all, by name or by position. */
function problemWith(issue: Problem): string | undefined {
  if (typeof issue.input === 'symbol') return issue.input.description;
  if (issue.input === undefined) return `missing field \`${String(issue.path?.at(-1))}\``;
  return undefined;
}

/**
 * Decodes the params of a request or a notification.
 *
 * @throws RpcError with code -32602
 */
export function decodeParams<S extends AnySchema>(schema: S, params: unknown): z.output<S> {
  return decode(schema, params ?? null, (detail) => invalidParams(detail));
}

/**
 * Decodes what the other side answered.
 *
 * @throws MalformedMessageError
 */
export function decodeResult<S extends AnySchema>(schema: S, result: unknown): z.output<S> {
  return decode(schema, result, (detail) => new MalformedMessageError(detail));
}

/** Decodes a value. Throws what `toError` makes of the first problem and of the part of the value that has it. */
export function decode<S extends AnySchema>(
  schema: S,
  value: unknown,
  toError: (detail: string, culprit: unknown) => Error,
): z.output<S> {
  const result = z.safeParse(schema, value);
  if (result.success) return result.data;
  // Inputs are needed to tell what is missing, but asking for them up front makes every good message pay.
  const { error } = z.safeParse(schema, value, { reportInput: true });
  const { message, input } = firstProblem((error ?? result.error).issues, value);
  throw toError(message, input);
}

/**
 * The problem that a decoder reading the document from front to back meets first: members in document order, and only
 * then those that are missing, in declaration order.
 */
function firstProblem(issues: readonly z.core.$ZodIssue[], value: unknown): z.core.$ZodIssue {
  let candidates = issues;
  let container: unknown = value;
  for (let depth = 0; ; depth++) {
    const here = candidates.find((issue) => issue.path.length <= depth);
    if (here !== undefined) return here;
    const present = candidates.filter((issue) => issue.path.length > depth + 1 || !isMissing(issue));
    if (present.length === 0) return candidates[0] as z.core.$ZodIssue;
    const keys = new Set(present.map((issue) => issue.path[depth]));
    const isRecord = typeof container === 'object' && container !== null && !Array.isArray(container);
    const first = isRecord ? Object.keys(container as object).find((key) => keys.has(key)) : undefined;
    const key = first ?? (present[0] as z.core.$ZodIssue).path[depth];
    candidates = present.filter((issue) => issue.path[depth] === key);
    container = isRecord ? (container as Record<PropertyKey, unknown>)[key as PropertyKey] : undefined;
  }
}

function isMissing(issue: z.core.$ZodIssue): boolean {
  return issue.input === undefined;
}

import { nativeToPathUri } from '@exec-server/protocol';
import fc from 'fast-check';
import * as z from 'zod/mini';
import { memberName } from './json-text.js';

type AnySchema = z.core.$ZodType;

/** The parts of schemas that say what they accept, by their kind. */
type Definition =
  | { readonly type: 'pipe'; readonly out: AnySchema }
  | { readonly type: 'optional' | 'nullable'; readonly innerType: AnySchema }
  | { readonly type: 'object'; readonly shape: Readonly<Record<string, AnySchema>> }
  | { readonly type: 'array'; readonly element: AnySchema }
  | { readonly type: 'record'; readonly valueType: AnySchema }
  | { readonly type: 'union'; readonly options: readonly AnySchema[] }
  | { readonly type: 'enum'; readonly entries: Readonly<Record<string, string>> }
  | { readonly type: 'literal'; readonly values: readonly string[] }
  | { readonly type: 'string'; readonly checks?: readonly unknown[] }
  | { readonly type: 'number' | 'boolean' | 'null' | 'unknown' };

/** What members get instead of values made from their schemas, by name. */
export type Replacements = Readonly<Record<string, fc.Arbitrary<unknown>>>;

/** An absolute path in bytes without NUL. */
export const nativePath: fc.Arbitrary<Uint8Array> = fc
  .array(
    fc.oneof(
      fc.constantFrom('a', '.', '..', 'C:', 'c|', '%2F', '\u00e9', ' '),
      fc.string({ unit: 'binary' }),
    ),
    {
      maxLength: 4,
    },
  )
  .map((names) => new TextEncoder().encode(`/${names.join('/').replaceAll('\0', '')}`));

const validText = fc.oneof(fc.string({ maxLength: 12 }), fc.string({ unit: 'binary', maxLength: 12 }));
const validBase64 = fc.uint8Array({ maxLength: 24 }).map((bytes) => Buffer.from(bytes).toString('base64'));
const validUri = nativePath.map((path) => nativeToPathUri(path));

/** Values that a schema accepts, as JSON has them. */
export function validValue(schema: AnySchema, replacements: Replacements = {}): fc.Arbitrary<unknown> {
  const definition = schema._zod.def as unknown as Definition;
  switch (definition.type) {
    case 'pipe':
      return validValue(definition.out, replacements);
    case 'optional':
      return validValue(definition.innerType, replacements);
    case 'nullable':
      return fc.option(validValue(definition.innerType, replacements), { freq: 4 });
    case 'object':
      return validObject(definition.shape, replacements);
    case 'array':
      return fc.array(validValue(definition.element, replacements), { maxLength: 4 });
    case 'record':
      return fc.dictionary(
        memberName.filter((name) => name !== '__proto__'),
        validValue(definition.valueType, replacements),
        { maxKeys: 4 },
      );
    case 'union':
      return fc.oneof(...definition.options.map((option) => validValue(option, replacements)));
    case 'enum':
      return fc.constantFrom(...Object.values(definition.entries));
    case 'literal':
      return fc.constantFrom(...definition.values);
    case 'string':
      return validString(schema, definition.checks !== undefined);
    case 'number':
      return validInteger(schema);
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'unknown':
      return fc.jsonValue({ maxDepth: 2 });
  }
}

function validObject(
  shape: Readonly<Record<string, AnySchema>>,
  replacements: Replacements,
): fc.Arbitrary<unknown> {
  const members = Object.entries(shape).map(([name, schema]) => {
    const value = Object.hasOwn(replacements, name)
      ? (replacements[name] as fc.Arbitrary<unknown>)
      : validValue(schema, replacements);
    return [name, value, schema._zod.def.type === 'optional'] as const;
  });
  const requiredKeys = members.filter(([, , isOptional]) => !isOptional).map(([name]) => name);
  const values: Record<string, fc.Arbitrary<unknown>> = Object.fromEntries(
    members.map(([name, value]) => [name, value]),
  );
  return fc.record(values, { requiredKeys, noNullPrototype: true });
}

/** Text, or what the annotation of the schema says it is. A check without one is for absolute paths. */
function validString(schema: AnySchema, isChecked: boolean): fc.Arbitrary<string> {
  const { format, contentEncoding } = z.globalRegistry.get(schema) ?? {};
  if (contentEncoding === 'base64') return validBase64;
  if (format === 'uri') return validUri;
  if (format === 'uuid') return fc.uuid();
  return isChecked ? validText.map((text) => `/${text}`) : validText;
}

function validInteger(schema: AnySchema): fc.Arbitrary<number> {
  const annotation = z.globalRegistry.get(schema) ?? {};
  const min = Number(annotation.minimum ?? Number.MIN_SAFE_INTEGER);
  const max = Number(annotation.maximum ?? Number.MAX_SAFE_INTEGER);
  return fc.maxSafeInteger().map((value) => {
    const size = max - min;
    return Math.min(max, min + (Math.abs(value) % Math.min(size + 1, Number.MAX_SAFE_INTEGER)));
  });
}

/** Values of every kind that JSON has, to put where another kind is meant. */
const misfit: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    -1,
    0.5,
    2 ** 32,
    2 ** 64,
    -(2 ** 63),
    1e300,
    '',
    [],
    {},
    [[]],
    'file:',
    '%',
  ),
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.jsonValue({ maxDepth: 3 }),
);

/** The same value with something wrong somewhere: a member of another kind, missing, or too many. */
export function nearlyValid(value: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc.tuple(value, fc.array(fc.nat(), { maxLength: 4 }), memberName, misfit, fc.boolean()).map(change);
}

type Change = readonly [
  value: unknown,
  way: readonly number[],
  name: string,
  misfit: unknown,
  drops: boolean,
];

function change([value, [step, ...way], name, replacement, drops]: Change): unknown {
  if (step === undefined || typeof value !== 'object' || value === null) return replacement;
  const entries = Object.entries(value);
  const at = step % (entries.length + 1);
  const entry = entries[at];
  if (entry === undefined) entries.push([name, replacement]);
  else if (drops && way.length === 0) entries.splice(at, 1);
  else entries[at] = [entry[0], change([entry[1], way, name, replacement, drops])];
  if (Array.isArray(value)) return entries.map(([, element]) => element);
  // As the parser makes it, with `__proto__` a member like any other.
  return Object.fromEntries(entries);
}

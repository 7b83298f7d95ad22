import type { ErrorObject } from 'ajv';
import { JobError, messageOf } from '../errors.js';
import { isObject } from '../rows/row.js';
import type { Result } from '../store/journal-entry.js';

/** Largest result, in bytes of its JSON. */
export const MAX_RESULT_BYTES = 1024 * 1024;

/** Says why a value is no result of this job; nothing where it is one. */
export type ResultCheck = (value: unknown) => string | undefined;

/** Makes the check of a job's results. Rejects with `JobError` for a schema that is none. */
export async function createResultCheck(schema: unknown): Promise<ResultCheck> {
  if (schema === undefined) return checkShape;
  const validate = await compile(schema);
  return (value) => {
    const wrong = checkShape(value);
    if (wrong !== undefined || validate(value)) return wrong;
    return `the result does not match the schema: ${(validate.errors ?? []).map(describe).join('; ')}`;
  };
}

function checkShape(value: unknown): string | undefined {
  return isObject(value) ? undefined : 'result must be a JSON object';
}

/** Reads a result from text. Answers why it is none. */
export function parseResult(
  text: string,
  check: ResultCheck,
): { readonly result: Result } | { readonly refusal: string } {
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_RESULT_BYTES)
    return { refusal: `the result has ${bytes} bytes; the limit is ${MAX_RESULT_BYTES}` };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { refusal: `the result is not JSON: ${messageOf(error)}` };
  }
  const refusal = check(value);
  return refusal === undefined ? { result: value as Result } : { refusal };
}

async function compile(schema: unknown) {
  if (!isObject(schema) && typeof schema !== 'boolean')
    throw new JobError('usage', 'the schema of results must be a JSON Schema: an object');
  // Loaded only where there is a schema: it takes longer to load than most jobs to start.
  // Names of a CommonJS module can be relied on only in what it exports as a whole.
  const { Ajv2020 } = (await import('ajv/dist/2020.js')).default;
  const { Ajv } = (await import('ajv')).default;
  const draft = isObject(schema) && typeof schema.$schema === 'string' ? schema.$schema : '';
  const options = { strict: false, validateFormats: false } as const;
  const ajv =
    draft.includes('draft-07') || draft.includes('draft-06') ? new Ajv(options) : new Ajv2020(options);
  try {
    return ajv.compile(schema);
  } catch (error) {
    throw new JobError('usage', `the schema of results is not valid: ${messageOf(error)}`, { cause: error });
  }
}

function describe({ instancePath, message = 'is wrong', params }: ErrorObject): string {
  const extra = 'additionalProperty' in params ? ` (${String(params.additionalProperty)})` : '';
  return `${instancePath === '' ? 'it' : instancePath} ${message}${extra}`;
}

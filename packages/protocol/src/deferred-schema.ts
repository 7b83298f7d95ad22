import * as z from 'zod/mini';

type AnySchema = z.ZodMiniType;

/** What a JSON Schema says about a value beside its type. */
export interface Annotation {
  readonly description?: string;
  readonly format?: string;
  readonly contentEncoding?: string;
  readonly type?: string;
  readonly minimum?: number;
  readonly maximum?: number;
}

interface Plan {
  readonly build: () => AnySchema;
  readonly annotation: Annotation | undefined;
}

const plans = new WeakMap<object, Plan>();

/** The prototype of schemas that are not built yet: the first look at one builds it, in its place. */
const unbuilt = new Proxy(Object.prototype, {
  get: (_target, name, schema) => Reflect.get(buildInPlace(schema as object), name),
});

/**
 * A schema that is built when somebody first looks into it. The wire has far more values than one program ever decodes,
 * and building the schemas of all of them is most of what it takes to load this package, in time and in memory.
 *
 * @param annotation lives in zod's registry and not in the schema: there it would be a check, which costs time at each
 *   value
 */
export function deferSchema<S extends AnySchema>(build: () => S, annotation?: Annotation): S {
  const schema = Object.create(unbuilt) as S;
  plans.set(schema, { build, annotation });
  return schema;
}

/** Makes the object what its plan builds, so that from here on it is a schema like any other. */
function buildInPlace(schema: object): object {
  const plan = plans.get(schema);
  if (plan === undefined) return schema;
  const built = plan.build();
  plans.delete(schema);
  Object.setPrototypeOf(schema, Object.getPrototypeOf(built) as object);
  Object.defineProperties(schema, Object.getOwnPropertyDescriptors(built));
  if (plan.annotation !== undefined) z.globalRegistry.add(schema as AnySchema, { ...plan.annotation });
  return schema;
}

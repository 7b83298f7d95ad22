import { isScalar } from 'yaml';
import { isNothing, listOf, mapOf, oneLine, readYaml, textOf } from './yaml-fields.js';

/** Longest type and transport of a tool, in characters. */
const MAX_KIND_LENGTH = 64;
/** Longest other text of a tool, in characters. */
const MAX_TEXT_LENGTH = 1024;

const PRODUCTS = ['chatgpt', 'codex', 'atlas'];

export interface ToolDependency {
  readonly type: string;
  readonly value: string;
  readonly description: string | null;
  readonly transport: string | null;
  readonly command: string | null;
  readonly url: string | null;
  readonly oauthCallbackPort: number | null;
}

/** What an `agents/openai.yaml` says about a skill. */
export interface SkillMetadata {
  readonly dependencies: { readonly tools: readonly ToolDependency[] } | null;
  readonly policy: {
    readonly allowImplicitInvocation: boolean | null;
    readonly products: readonly string[];
  } | null;
}

const NOTHING: SkillMetadata = { dependencies: null, policy: null };

/** The file has a member of the wrong kind, which makes the whole of it worthless. */
class InvalidMetadata extends Error {}

/** Reads the metadata of a skill. A file that is not what it should be says nothing. */
export function parseSkillMetadata(contents: string): SkillMetadata {
  const top = mapOf(readYaml(contents));
  if (top === undefined) return NOTHING;
  try {
    if (!isNothing(top.get('interface'))) required(mapOf(top.get('interface')));
    return { dependencies: readDependencies(top.get('dependencies')), policy: readPolicy(top.get('policy')) };
  } catch (error) {
    if (error instanceof InvalidMetadata) return NOTHING;
    throw error;
  }
}

function readDependencies(node: unknown): SkillMetadata['dependencies'] {
  if (isNothing(node)) return null;
  const listed = required(mapOf(node)).get('tools');
  if (listed === undefined) return null;
  const tools = required(listOf(listed)).map(readTool);
  const usable = tools.filter((tool) => tool !== undefined);
  return usable.length === 0 ? null : { tools: usable };
}

/** A tool without a type or a value is left out; other members that are too long are left out of it. */
function readTool(node: unknown): ToolDependency | undefined {
  const members = required(mapOf(node));
  const read = (name: string, maxLength: number) => {
    const text = oneLine(required(textOf(members.get(name))));
    return text === '' || Array.from(text).length > maxLength ? null : text;
  };
  const type = read('type', MAX_KIND_LENGTH);
  const value = read('value', MAX_TEXT_LENGTH);
  if (type === null || value === null) return undefined;
  return {
    type,
    value,
    description: read('description', MAX_TEXT_LENGTH),
    transport: read('transport', MAX_KIND_LENGTH),
    command: read('command', MAX_TEXT_LENGTH),
    url: read('url', MAX_TEXT_LENGTH),
    oauthCallbackPort: null,
  };
}

function readPolicy(node: unknown): SkillMetadata['policy'] {
  if (isNothing(node)) return null;
  const members = required(mapOf(node));
  const implicit = members.get('allow_implicit_invocation');
  const products = members.get('products');
  return {
    allowImplicitInvocation: isNothing(implicit) ? null : readFlag(implicit),
    products: products === undefined ? [] : required(listOf(products)).map(readProduct),
  };
}

function readFlag(node: unknown): boolean {
  const value = isScalar(node) ? node.value : undefined;
  return required(typeof value === 'boolean' ? value : undefined);
}

function readProduct(node: unknown): string {
  const name = textOf(node)?.toLowerCase();
  return required(PRODUCTS.find((product) => product === name));
}

function required<T>(value: T | undefined): T {
  if (value === undefined) throw new InvalidMetadata();
  return value;
}

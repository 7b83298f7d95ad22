/**
 * Whom a credential names. It is a kind and, for some, a subject, and not a word: whoever may choose the word in a token
 * must not be able to choose to be somebody of another kind.
 */
export interface Principal {
  /**
   * `anonymous`: no credential is needed. `capability-token`: whoever holds that token. `signed-token`: a signed token,
   * by its `sub` if it has one. `custom`: whoever a program that embeds the server says.
   */
  readonly kind: 'anonymous' | 'capability-token' | 'signed-token' | 'custom';
  /** The `sub` of a signed token, or the name of a custom principal. Absent where the kind is all there is. */
  readonly subject?: string;
}

/** The principal of connections that need no credential. */
export const ANONYMOUS_PRINCIPAL: Principal = Object.freeze({ kind: 'anonymous' });

/** Whoever holds the capability token is the same principal. */
export const CAPABILITY_TOKEN_PRINCIPAL: Principal = Object.freeze({ kind: 'capability-token' });

/** Signed tokens without a subject are all the same principal, which no subject names. */
export const SIGNED_TOKEN_PRINCIPAL: Principal = Object.freeze({ kind: 'signed-token' });

/** Whether two credentials name the same one. */
export function isSamePrincipal(one: Principal, other: Principal): boolean {
  return one.kind === other.kind && one.subject === other.subject;
}

/** Text that two principals share only if they are the same one, to keep things by. */
export function principalKey({ kind, subject }: Principal): string {
  return JSON.stringify([kind, subject]);
}

const KINDS: readonly unknown[] = [
  'anonymous',
  'capability-token',
  'signed-token',
  'custom',
] satisfies readonly Principal['kind'][];

/** Throws a `TypeError` for what is no principal: a program without types must not make everybody the same one. */
export function checkPrincipal(value: Principal): Principal {
  const { kind, subject } = Object(value) as Partial<Record<keyof Principal, unknown>>;
  if (!KINDS.includes(kind) || !(subject === undefined || typeof subject === 'string'))
    throw new TypeError(`a principal has a kind of ${KINDS.join(', ')} and perhaps a subject`);
  return value;
}

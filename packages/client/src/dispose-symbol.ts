/** `Symbol.asyncDispose`, also where the platform does not have it yet: there under the name that compilers look for. */
export const asyncDispose: typeof Symbol.asyncDispose =
  Symbol.asyncDispose ?? (Symbol.for('Symbol.asyncDispose') as typeof Symbol.asyncDispose);

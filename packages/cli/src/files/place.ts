/** What stands before a path on the server's machine. */
export const REMOTE_PREFIX = 'remote:';

/** Something to copy, or where to. */
export interface Place {
  readonly side: 'local' | 'remote';
  readonly path: string;
}

/** Reads `remote:/path`, or a path of this machine. One of this machine that begins like that is `./remote:…`. */
export function parsePlace(text: string): Place {
  return text.startsWith(REMOTE_PREFIX)
    ? { side: 'remote', path: text.slice(REMOTE_PREFIX.length) }
    : { side: 'local', path: text };
}

/** As it was, or could have been, typed. */
export function placeText({ side, path }: Place): string {
  return side === 'remote' ? `${REMOTE_PREFIX}${path}` : path;
}

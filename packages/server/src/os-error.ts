/** A failed system call. The message has the form that clients of the wire know: `<text> (os error <n>)`. */
export class OsError extends Error {
  override readonly name = 'OsError';
  constructor(
    /** Positive errno. */
    readonly errno: number,
    /** The call that failed, for logs; not part of the message. */
    readonly syscall: string,
    /** What the number means here, and what to do; put around the text of the number. @default nothing */
    { before = '', after = '' }: { readonly before?: string; readonly after?: string } = {},
  ) {
    super(`${before}${osErrorText(errno)}${after}`);
  }
}

/** Texts that the wire promises; other numbers fall back to a generic one. */
const ERRNO_TEXTS: ReadonlyMap<number, string> = new Map([
  [1, 'Operation not permitted'],
  [2, 'No such file or directory'],
  [3, 'No such process'],
  [4, 'Interrupted system call'],
  [5, 'I/O error'],
  [6, 'No such device or address'],
  [7, 'Argument list too long'],
  [8, 'Exec format error'],
  [9, 'Bad file descriptor'],
  [11, 'Resource temporarily unavailable'],
  [12, 'Out of memory'],
  [13, 'Permission denied'],
  [16, 'Resource busy'],
  [17, 'File exists'],
  [18, 'Cross-device link'],
  [19, 'No such device'],

  [20, 'Not a directory'],
  [21, 'Is a directory'],
  [22, 'Invalid argument'],
  [23, 'Too many open files in system'],
  [24, 'No file descriptors available'],
  [26, 'Text file busy'],
  [27, 'File too large'],
  [28, 'No space left on device'],
  [29, 'Invalid seek'],
  [30, 'Read-only file system'],
  [31, 'Too many links'],
  [32, 'Broken pipe'],
  [36, 'Filename too long'],
  [39, 'Directory not empty'],
  [40, 'Symbolic link loop'],
  [75, 'Value too large for data type'],
  [95, 'Not supported'],
  [122, 'Quota exceeded'],
]);

/** The text of an errno as the wire spells it. */
export function osErrorText(errno: number): string {
  return `${ERRNO_TEXTS.get(errno) ?? 'No error information'} (os error ${errno})`;
}

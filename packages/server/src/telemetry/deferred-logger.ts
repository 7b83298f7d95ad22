import type { Logger } from './logger.js';

type Level = Exclude<keyof Logger, 'child'>;

/** Makes the logger that it stands for when the first line is to be written. */
export class DeferredLogger implements Logger {
  #logger: Logger | undefined;

  constructor(
    private readonly isWritten: (level: Level) => boolean,
    private readonly make: () => Logger,
  ) {}

  debug(fields: object, message: string): void {
    this.#write('debug', fields, message);
  }

  info(fields: object, message: string): void {
    this.#write('info', fields, message);
  }

  warn(fields: object, message: string): void {
    this.#write('warn', fields, message);
  }

  error(fields: object, message: string): void {
    this.#write('error', fields, message);
  }

  child(fields: object): Logger {
    return new DeferredLogger(this.isWritten, () => this.#made().child(fields));
  }

  #write(level: Level, fields: object, message: string): void {
    if (this.isWritten(level)) this.#made()[level](fields, message);
  }

  #made(): Logger {
    this.#logger ??= this.make();
    return this.#logger;
  }
}

import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { descriptorReserve } from '../native/descriptor-reserve.js';
import type { AuditLog } from './audit.js';
import { escapeControls } from './escape-controls.js';
import { type Logger, silentLogger } from './logger.js';

/** Readable by the server's user alone: command lines often carry secrets. */
const AUDIT_FILE_MODE = 0o600;

/** `O_NONBLOCK` does nothing to a file; a FIFO whose reader is slow or missing becomes an error instead of a halt. */
const OPEN_FLAGS = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NONBLOCK;

/** An audit event that could not be written. */
export class AuditLogError extends Error {
  override readonly name = 'AuditLogError';
}

export interface FileAuditLogOptions {
  /** Told once when writing begins to fail and once when it works again. @default silent */
  readonly logger?: Logger;
}

/**
 * Appends one JSON line per event to the file at `path`, which is created if it is missing.
 *
 * `record` returns when the kernel has the line, so that no process runs whose start is not in the log, and throws an
 * {@link AuditLogError} when it could not be written: a server that promises a record must refuse to start what it
 * cannot record. The file is opened for every event, so it may be moved away and replaced at any time. Throws
 * at once when the file cannot be opened.
 */
export function createFileAuditLog(path: string, options: FileAuditLogOptions = {}): AuditLog {
  const logger = options.logger ?? silentLogger;
  let failing = false;
  let endsInsideLine = false;

  const append = (line: string) => {
    const bytes = Buffer.from(endsInsideLine ? `\n${line}` : line);
    const file = openSync(path, OPEN_FLAGS, AUDIT_FILE_MODE);
    try {
      const written = writeSync(file, bytes);
      endsInsideLine = written > 0 && written < bytes.length;
      if (written < bytes.length) throw new Error(`only ${written} of ${bytes.length} bytes were written`);
    } finally {
      closeSync(file);
    }
  };

  const orExplain = (action: () => void) => {
    try {
      action();
    } catch (cause) {
      throw new AuditLogError(`cannot write the audit log ${path}: ${(cause as Error).message}`, { cause });
    }
  };

  orExplain(() => closeSync(openSync(path, OPEN_FLAGS, AUDIT_FILE_MODE)));
  return {
    record(event) {
      try {
        const line = escapeControls(JSON.stringify({ time: new Date().toISOString(), ...event }));
        // The end of a process is put on record also when clients have taken every descriptor.
        orExplain(() => descriptorReserve.use(() => append(`${line}\n`)));
      } catch (err) {
        if (!failing) logger.error({ err }, 'the audit log cannot be written');
        failing = true;
        throw err;
      }
      if (failing) logger.info({ path }, 'the audit log can be written again');
      failing = false;
    },
  };
}

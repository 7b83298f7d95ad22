import type { Principal } from '../listen/principal.js';

/** Who asked for a process, as far as the server knows. */
export interface AuditSubject {
  /** Whom the credential names. */
  readonly principal: Principal;
  /** Where the request came from, e.g. `127.0.0.1:51312` or `stdio`. */
  readonly remote: string;
  readonly sessionId: string;
  readonly processId: string;
}

/** One fact for the audit log. No payloads, no environment values. */
export type AuditEvent =
  | (AuditSubject & {
      readonly event: 'process-started';
      readonly pid: number;
      readonly argv: readonly string[];
      readonly cwd: string;
      readonly tty: boolean;
    })
  | (AuditSubject & {
      readonly event: 'process-refused';
      readonly argv: readonly string[];
      readonly cwd: string;
      readonly reason: string;
    })
  | (AuditSubject & {
      readonly event: 'network-decided';
      readonly protocol: string;
      readonly host: string;
      readonly port: number;
      readonly decision: string;
      readonly source: string;
      readonly reason: string;
      /** What the client said about the command that the process is part of. */
      readonly context: Readonly<Record<string, unknown>>;
    })
  | (AuditSubject & {
      readonly event: 'process-ended';
      readonly pid: number;
      readonly outcome: 'exited' | 'signaled' | 'unknown';
      readonly exitCode: number;
      readonly durationMs: number;
    });

/** Where audit events go. */
export interface AuditLog {
  record(event: AuditEvent): void;
}

export const noAuditLog: AuditLog = { record() {} };

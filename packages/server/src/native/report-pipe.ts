import { DescriptorSource } from './descriptor-source.js';
import { DescriptorScope } from './descriptors.js';
import { type Libc, loadLibc } from './libc.js';
import { openOutputPipe } from './pipes.js';

/** A pipe through which a child says something about itself, beside its output. */
export interface ReportPipe {
  /** The child's end, close-on-exec; a child gets it as an extra descriptor. */
  readonly fd: number;
  /** Lets go of the child's end, once the child has its own. Without that the report never ends. Idempotent. */
  handOver(): void;
  /** Resolves with everything that was said once nobody can say more, or with what was said until `close`. */
  readonly report: Promise<Buffer>;
  /** Lets go of everything. Idempotent. */
  close(): void;
}

/** Throws `OsError`. What is said must be short: it is kept in memory whatever its length. */
export function openReportPipe(): ReportPipe {
  const libc: Libc = loadLibc();
  const scope = new DescriptorScope(libc);
  const { ours, theirs } = openOutputPipe(libc, scope);
  const source = new DescriptorSource(libc, 'stdout', scope.release(ours));
  const report = new Promise<Buffer>((resolve) => {
    const chunks: Buffer[] = [];
    source.start(
      (chunk) => chunks.push(chunk),
      () => resolve(Buffer.concat(chunks)),
    );
  });
  return {
    fd: theirs,
    handOver: () => scope.closeAll(),
    report,
    close: () => {
      scope.closeAll();
      source.destroy();
    },
  };
}

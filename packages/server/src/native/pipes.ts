import { type DescriptorScope, O_CLOEXEC, setNonBlocking } from './descriptors.js';
import { checkResult, type Libc } from './libc.js';

/** A pipe between us and a child: our end does not block, the one of the child does. */
export interface PipeEnds {
  readonly ours: number;
  readonly theirs: number;
}

/** A pipe that we write to. The descriptors belong to `scope`. */
export function openInputPipe(libc: Libc, scope: DescriptorScope): PipeEnds {
  const { readEnd, writeEnd } = openPipe(libc);
  return ownEnds(libc, scope, { ours: writeEnd, theirs: readEnd });
}

/** A pipe that we read from. The descriptors belong to `scope`. */
export function openOutputPipe(libc: Libc, scope: DescriptorScope): PipeEnds {
  const { readEnd, writeEnd } = openPipe(libc);
  return ownEnds(libc, scope, { ours: readEnd, theirs: writeEnd });
}

function ownEnds(libc: Libc, scope: DescriptorScope, ends: PipeEnds): PipeEnds {
  scope.own(ends.ours);
  scope.own(ends.theirs);
  setNonBlocking(libc, ends.ours);
  return ends;
}

/** Both ends of a new pipe, close-on-exec and blocking. */
function openPipe(libc: Libc): { readonly readEnd: number; readonly writeEnd: number } {
  const ends = new Int32Array(2);
  checkResult(libc, libc.pipe2(ends, O_CLOEXEC), 'pipe2');
  return { readEnd: ends[0]!, writeEnd: ends[1]! };
}

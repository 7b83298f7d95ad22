import { join } from 'node:path';
import { requireProgram, type SkippableTest } from '@exec-server/testing';
import { requireCgroups, requireRoot } from './cgroups.js';

/** Starts a child in a group of its own in the same session, which moves itself to the cgroup that is named. */
const LEAVE = `
import os, sys, time
def leave():
    os.setpgid(0, 0)
    with open(sys.argv[1], 'w') as group: group.write(str(os.getpid()))
def stay():
    print('left', child, flush=True)
    time.sleep(300)
`;

/** The child that left lives on as a child of its parent. */
const WITH_PARENT = `${LEAVE}
ready, done = os.pipe()
child = os.fork()
if child == 0:
    leave()
    os.write(done, b'.')
    time.sleep(300)
    os._exit(0)
os.read(ready, 1)
stay()
`;

/** The one that lives on is a child of the one that left, which has ended. */
const WITHOUT_PARENT = `${LEAVE}
told, tell = os.pipe()
between = os.fork()
if between == 0:
    leave()
    orphan = os.fork()
    if orphan == 0: time.sleep(300)
    os.write(tell, str(orphan).encode())
    os._exit(0)
os.waitpid(between, 0)
child = int(os.read(told, 20))
stay()
`;

/** What such a program prints: the number of the process that lives on outside of the cgroup. */
export const LEFT = /left (\d+)\n/;

/** The command line of a program of which somebody leaves its cgroup, and its session not. */
export function leavingChild(test: SkippableTest, { orphaned }: { readonly orphaned: boolean }) {
  const outside = join(requireCgroups(test), 'cgroup.threads');
  requireRoot(test);
  const args = ['-c', orphaned ? WITHOUT_PARENT : WITH_PARENT, outside];
  return { program: requireProgram('python3', test), args };
}

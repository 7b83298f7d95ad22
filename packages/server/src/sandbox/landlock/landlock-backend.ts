import { access } from 'node:fs/promises';
import type { LaunchPlan } from '../../native/launch.js';
import type { ConfinedLaunch, ConfineOptions, SandboxBackend, Trial, Verdict } from '../backend.js';
import { thisArchitecture } from '../bubblewrap/architecture.js';
import { buildSeccompFilter } from '../bubblewrap/seccomp-filter.js';
import { LaunchDescriptors } from '../launch-descriptors.js';
import type { ResolvedPolicy } from '../policy/policy.js';
import { unenforceable } from '../policy/policy-error.js';
import { describeEntry } from '../program/enter.js';
import { encodePlan, type Word } from '../program/plan.js';
import { openProgram, ProgramUnavailableError } from '../program/program-file.js';
import { programArgv, runProgram } from '../program/run-program.js';
import { describeFailure } from '../program/status.js';
import { chooseRights, deviceRights, OLDEST_ABI } from './access-rights.js';
import { buildLandlockFilter } from './landlock-filter.js';

/** Devices that programs cannot do without, and that keep nothing. */
const DEVICES = ['/dev/null', '/dev/zero', '/dev/full', '/dev/tty'];

const HINT = `use Linux 6.7 or newer, with \`landlock\` in the list of \`lsm=\``;

/**
 * Restricts the program itself, without namespaces, which is possible where those are forbidden. It keeps the one policy
 * that this is enough for: everything can be read, nothing written, and nobody reached.
 */
export class LandlockBackend implements SandboxBackend {
  readonly name = 'landlock';
  readonly makesViews = false;

  async probe(): Promise<Trial> {
    try {
      const abi = await readAbi();
      if (abi < OLDEST_ABI)
        return {
          works: false,
          reason:
            abi === 0
              ? 'the kernel has no Landlock'
              : `version ${abi} of Landlock is older than ${OLDEST_ABI}`,
          hint: HINT,
        };
      const { failure } = await runProgram([...(await describeRestrictions(abi)), 'done']);
      if (failure !== undefined)
        return { works: false, reason: describeFailure(failure), step: failure.step, hint: HINT };
      return {
        works: true,
        detail: `version ${abi}; everything can be read, nothing written, nobody reached`,
      };
    } catch (error) {
      if (error instanceof ProgramUnavailableError) return { works: false, reason: error.message };
      throw error;
    }
  }

  canKeep({ files, network }: ResolvedPolicy, { doorway, readOnly = false }: ConfineOptions): Verdict {
    if (doorway !== undefined) return refuse('it has no network of its own that a proxy could be in');
    if (network === 'enabled') return refuse('it cannot hide control sockets from a program with a network');
    if (files === 'unrestricted' || files.fullWrite)
      return readOnly ? { keeps: true } : refuse('it lets a program write nothing');
    if (!files.fullRead) return refuse('it cannot deny reading');
    if (!readOnly && files.rules.rules.some(({ access: allowed }) => allowed === 'write'))
      return refuse('it lets a program write nothing');
    return { keeps: true };
  }

  async assemble(policy: ResolvedPolicy, plan: LaunchPlan, options: ConfineOptions): Promise<ConfinedLaunch> {
    const verdict = this.canKeep(policy, options);
    if (!verdict.keeps) throw unenforceable(verdict.reason);
    const program = await openProgram();
    const restrictions = await describeRestrictions(await readAbi());
    const descriptors = new LaunchDescriptors(plan.extraDescriptors);
    try {
      const status = descriptors.openStatus();
      const programFd = descriptors.add(program);
      const entry = describeEntry({
        plan,
        ownDescriptorsFrom: descriptors.first,
        filters: buildFilters(),
        privateStreams: options.privateStreams,
      });
      const planFd = descriptors.addFile(encodePlan([...restrictions, ...entry]));
      return {
        plan: {
          ...plan,
          program: `/proc/self/fd/${programFd}`,
          argv: programArgv(planFd, status.as),
          env: new Map(),
          extraDescriptors: [...plan.extraDescriptors, ...descriptors.added],
        },
        keepers: 'none',
        status: status.pipe,
        started: () => {
          status.pipe.handOver();
          descriptors.closeFiles();
        },
        ended: async () => status.pipe.close(),
      };
    } catch (error) {
      descriptors.closeAll();
      throw error;
    }
  }
}

function refuse(reason: string): Verdict {
  return { keeps: false, reason };
}

let knownAbi: number | undefined;

/** The version of Landlock that the kernel has; 0 for none. */
async function readAbi(): Promise<number> {
  knownAbi ??= (await runProgram(['landlock-abi', 'done'])).landlockAbi ?? 0;
  return knownAbi;
}

async function describeRestrictions(abi: number): Promise<Word[]> {
  const { files, network, scopes } = chooseRights(abi);
  const rights = deviceRights(abi);
  const devices = await Promise.all(
    DEVICES.map((path) =>
      access(path).then(
        () => ['landlock-path', rights, path],
        () => [],
      ),
    ),
  );
  return ['capabilities', 'landlock', files, network, scopes, ...devices.flat(), 'landlock-restrict'];
}

function buildFilters(): Buffer[] {
  const architecture = thisArchitecture();
  if (architecture === undefined) throw unenforceable('system calls of this processor cannot be filtered');
  return [buildSeccompFilter(architecture, 'unix'), buildLandlockFilter(architecture)];
}

import { osErrorText } from '../../os-error.js';

/** A step of a plan that did not work. */
export interface StepFailure {
  /** `exec` when the program itself could not be executed. */
  readonly step: string;
  /** Positive errno. */
  readonly errno: number;
  /** The argument that it is about; may be empty. */
  readonly word: string;
}

/** What the sandbox program said until it became another, or ended. */
export interface ProgramStatus {
  /** Whether it came as far as to what the program itself asks for. */
  readonly entered: boolean;
  readonly failure: StepFailure | undefined;
  /** The answer to `landlock-abi`; 0 where the kernel has no Landlock. */
  readonly landlockAbi: number | undefined;
}

/** Reads the words that `packages/server/sandbox/sandbox.c` writes. */
export function parseStatus(report: Buffer): ProgramStatus {
  const words = report.toString().split('\0');
  let entered = false;
  let failure: StepFailure | undefined;
  let landlockAbi: number | undefined;
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (word === 'entered') entered = true;
    else if (word === 'landlock-abi') landlockAbi = Number(words.shift());
    else if (word === 'exec') failure = { step: word, errno: Number(words.shift()), word: '' };
    else if (word === 'failed') {
      const [step = '', errno, about = ''] = words.splice(0, 3);
      failure = { step, errno: Number(errno), word: about };
    }
  }
  return { entered, failure, landlockAbi };
}

/** A failed step in words for people: `bind /x: Permission denied (os error 13)`. */
export function describeFailure({ step, errno, word }: StepFailure): string {
  return `${step}${word === '' ? '' : ` ${word}`}: ${osErrorText(errno)}`;
}

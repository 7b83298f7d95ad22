/**
 * Recordings of behaviour that a later step brings. They are played as soon as their line is removed here;
 * until then each is reported as skipped.
 */
export const LATER: Readonly<Record<string, string>> = {};

/** Programs that a scenario's processes run beyond the shell and the core utilities. */
export const NEEDS: Readonly<Record<string, string>> = {
  '36-network-policy': 'curl',
  'app/22-background-children': 'setsid',
};

/** Recordings that another server is not asked for, and why. */
export const OURS_ALONE: Readonly<Record<string, string>> = {
  'app/23-stdin-backpressure': 'the recorded server stalls for as long as the child lives',
};

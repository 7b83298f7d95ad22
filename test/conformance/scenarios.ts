/**
 * Recordings of behaviour that a later step brings. They are played as soon as their line is removed here;
 * until then each is reported as skipped.
 */
export const LATER: Readonly<Record<string, string>> = {
  '34-process-sandbox': 'sandbox',
  '36-network-policy': 'network policy',
  '60-fs-sandbox': 'sandbox',
};

/** Programs that a scenario's processes run beyond the shell and the core utilities. */
export const NEEDS: Readonly<Record<string, string>> = {
  '36-network-policy': 'curl',
};

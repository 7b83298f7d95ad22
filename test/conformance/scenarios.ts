/**
 * Recordings of behaviour that a later step brings. They are played as soon as their line is removed here;
 * until then each is reported as skipped.
 */
export const LATER: Readonly<Record<string, string>> = {
  '14-environment-info': 'environment',
  '34-process-sandbox': 'sandbox',
  '35-shell-snapshot': 'shell snapshots',
  '36-network-policy': 'network policy',
  '50-fs-read-write': 'files',
  '52-fs-metadata': 'files',
  '53-fs-directories': 'files',
  '54-fs-readdirectory-canonicalize': 'files',
  '55-fs-walk': 'files',
  '57-fs-open-readblock': 'files',
  '59-fs-path-uris': 'files',
  '60-fs-sandbox': 'sandbox',
  '80-capability-roots-v1': 'capabilities',
  '81-capabilities-v2': 'capabilities',
  '82-environment-config-read': 'environment',
};

/** Programs that a scenario's processes run beyond the shell and the core utilities. */
export const NEEDS: Readonly<Record<string, string>> = {
  '36-network-policy': 'curl',
};

import type { SandboxContext } from '@exec-server/protocol';
import { expect, it } from 'vitest';
import { findRestriction } from '../../src/sandbox/restrictions.js';

const context = (permissions: SandboxContext['permissions']): SandboxContext => ({
  permissions,
  windowsSandboxLevel: 'disabled',
});
const root = { type: 'special', value: { kind: 'root' } } as const;
const files = (
  ...entries: { access: 'read' | 'write' | 'deny'; path: typeof root | { type: 'path'; path: string } }[]
) => ({ type: 'restricted', entries }) as const;

it.each([
  ['null', null],
  ['disabled', context({ type: 'disabled' })],
  ['external', context({ type: 'external', network: 'restricted' })],
  [
    'everything granted',
    context({ type: 'managed', network: 'enabled', file_system: { type: 'unrestricted' } }),
  ],
  [
    'the root writable and nothing taken away',
    context({ type: 'managed', network: 'enabled', file_system: files({ access: 'write', path: root }) }),
  ],
])('%s takes nothing away', (_name, sandbox) => {
  expect(findRestriction(sandbox)).toBeUndefined();
});

it.each([
  [
    'restricted network',
    context({ type: 'managed', network: 'restricted', file_system: { type: 'unrestricted' } }),
  ],
  [
    'restricted file system',
    context({ type: 'managed', network: 'enabled', file_system: files({ access: 'read', path: root }) }),
  ],
  [
    'restricted file system',
    context({
      type: 'managed',
      network: 'enabled',
      file_system: files(
        { access: 'write', path: root },
        { access: 'deny', path: { type: 'path', path: 'file:///etc' } },
      ),
    }),
  ],
  ['restricted file system', context({ type: 'managed', network: 'enabled', file_system: files() })],
])('%s is found', (restriction, sandbox) => {
  expect(findRestriction(sandbox)).toBe(restriction);
});

import { describe, expect, it } from 'vitest';
import { requirementsFromManaged } from '../../../src/environment/config/legacy-requirements.js';

describe('requirements of a managed configuration', () => {
  it.each([
    [{ approval_policy: 'on-request' }, { allowed_approval_policies: ['on-request'] }],
    [{ approvals_reviewer: 'auto_review' }, { allowed_approvals_reviewers: ['auto_review', 'user'] }],
    [{ approvals_reviewer: 'user' }, { allowed_approvals_reviewers: ['user'] }],
    [{ sandbox_mode: 'read-only' }, { allowed_sandbox_modes: ['read-only'] }],
    [{ sandbox_mode: 'danger-full-access' }, { allowed_sandbox_modes: ['read-only', 'danger-full-access'] }],
    [{ model: 'm' }, {}],
    [
      { approval_policy: { granular: { sandbox_approval: true, rules: true, mcp_elicitations: true } } },
      {
        allowed_approval_policies: [
          {
            granular: {
              sandbox_approval: true,
              rules: true,
              skill_approval: false,
              request_permissions: false,
              mcp_elicitations: true,
            },
          },
        ],
      },
    ],
  ])('%j', (config, expected) => {
    expect({ ...requirementsFromManaged(config) }).toEqual(expected);
  });

  it.each([
    [{ sandbox_mode: 'open' }, /unknown variant `open`, expected one of `read-only`.*\nin `sandbox_mode`\n$/],
    [{ approval_policy: 3n }, /unknown variant `3`/],
    [{ approval_policy: { other: {} } }, /unknown variant `other`/],
  ])('%o is refused', (config, message) => {
    expect(() => requirementsFromManaged(config)).toThrow(message);
  });
});

import { describe, expect, it } from 'vitest';
import { parseSkillMetadata } from '../../src/capabilities/skill-metadata.js';

const tool = (type: string, value: string, more: object = {}) => ({
  type,
  value,
  description: null,
  transport: null,
  command: null,
  url: null,
  oauthCallbackPort: null,
  ...more,
});

describe('metadata of a skill', () => {
  it('names the tools that it needs', () => {
    const contents =
      'dependencies:\n  tools:\n' +
      '  - {type: mcp, value: " a  b ", description: d, transport: t, command: c, url: "http://x"}\n' +
      '  - {type: env_var, value: 5}\n  - {type: mcp}\n  - {value: v}\n';
    expect(parseSkillMetadata(contents).dependencies).toEqual({
      tools: [
        tool('mcp', 'a b', { description: 'd', transport: 't', command: 'c', url: 'http://x' }),
        tool('env_var', '5'),
      ],
    });
  });

  it.each([
    ['type', 64],
    ['value', 1024],
  ])('leaves out tools whose %s is longer than %i', (member, limit) => {
    const tools = (length: number) => {
      const members = { type: 't', value: 'v', [member]: 'x'.repeat(length) };
      return parseSkillMetadata(`dependencies: {tools: [${JSON.stringify(members)}]}`).dependencies?.tools
        .length;
    };
    expect([tools(limit - 1), tools(limit), tools(limit + 1)]).toEqual([1, 1, undefined]);
  });

  it('leaves out other members that are too long', () => {
    const long = { description: 'd'.repeat(1025), url: 'u'.repeat(1025), transport: 't'.repeat(65) };
    const contents = `dependencies: {tools: [${JSON.stringify({ type: 't', value: 'v', ...long })}]}`;
    expect(parseSkillMetadata(contents).dependencies).toEqual({ tools: [tool('t', 'v')] });
  });

  it.each([
    ['policy: {}', { allowImplicitInvocation: null, products: [] }],
    ['policy: {allow_implicit_invocation: false}', { allowImplicitInvocation: false, products: [] }],
    ['policy: {products: [CODEX, atlas]}', { allowImplicitInvocation: null, products: ['codex', 'atlas'] }],
    [
      'interface: {}\npolicy: {allow_implicit_invocation: null}',
      { allowImplicitInvocation: null, products: [] },
    ],
  ])('%s', (contents, policy) => {
    expect(parseSkillMetadata(contents).policy).toEqual(policy);
  });

  it.each([
    '',
    '[]',
    'policy: [',
    'policy: 5',
    'policy: {allow_implicit_invocation: "yes"}',
    'policy: {products: null}',
    'policy: {products: [codex, bogus]}',
    'interface: 5\npolicy: {}',
    'policy: {}\ndependencies: {tools: [5]}',
    'dependencies: {}',
    'dependencies: {tools: []}',
  ])('%j says nothing', (contents) => {
    expect(parseSkillMetadata(contents)).toEqual({ dependencies: null, policy: null });
  });
});

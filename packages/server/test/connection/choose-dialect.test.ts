import { expect, it } from 'vitest';
import { chooseDialect } from '../../src/connection/choose-dialect.js';

it.each([
  ['initialize', { clientName: 'x' }, 'exec'],
  ['initialize', { clientInfo: { name: 'x', version: '1' } }, 'app'],
  ['initialize', { clientInfo: null }, 'app'],
  ['initialize', ['x', null], 'exec'],
  ['initialize', undefined, 'exec'],
  ['initialize', null, 'exec'],
  ['command/exec', { command: ['true'] }, 'app'],
  ['command/exec', { argv: ['true'] }, 'exec'],
  ['command/exec', {}, 'exec'],
  ['command/exec/write', { sessionId: 's', chunk: '' }, 'exec'],
  ['config/read', {}, 'app'],
  ['config/read', undefined, 'app'],
  ['process/start', { command: ['true'] }, 'exec'],
  ['command/execute', { command: ['true'] }, 'exec'],
  ['nope', {}, 'exec'],
])('%s with %o belongs to its dialect', (method, params, dialect) => {
  expect(chooseDialect({ method, params })).toBe(dialect);
});

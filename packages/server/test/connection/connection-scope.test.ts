import { expect, it } from 'vitest';
import { PeerScope } from '../../src/connection/connection-scope.js';
import type { ConnectionScope } from '../../src/dialects/dialect.js';

class Resource {
  closed = 0;
  constructor(readonly scope: ConnectionScope) {}
  close(): void {
    this.closed++;
  }
}
class Other extends Resource {}

const open = () =>
  new PeerScope({
    bufferedBytes: 0,
    writable: true,
    whenWritable: () => Promise.resolve(),
    notify() {},
    sendBytes() {},
    sendBinary() {},
    carriesObjects: false,
    sendObject() {},
  });

it('keeps one of each kind and closes them with the connection, once', () => {
  const scope = open();
  const resource = scope.keep(Resource);
  const other = scope.keep(Other);
  expect(scope.keep(Resource)).toBe(resource);
  expect(resource.scope).toBe(scope);
  scope.close();
  scope.close();
  expect([resource.closed, other.closed]).toEqual([1, 1]);
});

it('closes at once what is opened after the end', () => {
  const scope = open();
  scope.close();
  expect(scope.keep(Resource).closed).toBe(1);
});

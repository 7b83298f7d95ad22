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

const open = (changes: Partial<ConstructorParameters<typeof PeerScope>[0]> = {}) =>
  new PeerScope({
    bufferedBytes: 0,
    writable: true,
    whenWritable: () => Promise.resolve(),
    notify() {},
    request: () => Promise.reject(new Error('nobody answers')),
    sendBytes() {},
    sendBinary() {},
    carriesObjects: false,
    sendObject() {},
    ...changes,
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

it('lets a dialect say what its notifications look like, or that they are not wanted', () => {
  const sent: unknown[] = [];
  const scope = open({
    notify: (method, params) => void sent.push([method, params]),
    sendBytes: (line) => void sent.push(Buffer.from(line).toString()),
  });
  scope.notify('a', 1);
  scope.encodeNotification = (method, params) =>
    method === 'unwanted' ? undefined : Buffer.from(`${method} ${JSON.stringify(params)}\n`);
  scope.notify('b', [2]);
  scope.notify('unwanted', 3);
  expect(sent).toEqual([['a', 1], 'b [2]\n']);
});

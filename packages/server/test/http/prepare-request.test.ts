import { expect, it } from 'vitest';
import { type HttpRequestSpec, prepareRequest } from '../../src/http/prepare-request.js';

const spec: HttpRequestSpec = { method: 'GET', url: 'http://host/', headers: [], body: Buffer.alloc(0) };

it('writes names in lower case, values in UTF-8 and variables behind the value', () => {
  const headers = [
    { name: 'X-Token', value: 'Bearer ', valueEnvVar: 'TOKEN' },
    { name: 'x-token', value: '' },
    { name: 'X-U', value: ' ü\t ' },
  ];
  const prepared = prepareRequest({ ...spec, headers }, { TOKEN: 'secret' });
  expect(prepared.headers).toEqual([
    ['x-token', 'Bearer secret'],
    ['x-token', ''],
    ['x-u', ' \u00c3\u00bc\t '],
  ]);
});

it('turns the user of the URL into a header, unless there is one', () => {
  const url = 'http://u:p@host/';
  expect(prepareRequest({ ...spec, url }, {}).headers).toEqual([['authorization', 'Basic dTpw']]);
  const headers = [{ name: 'Authorization', value: 'mine' }];
  expect(prepareRequest({ ...spec, url, headers }, {}).headers).toEqual([['authorization', 'mine']]);
});

it.each(['', 'G T', 'GET\r\n', 'é', 'G:'])('refuses the method %j', (method) => {
  expect(() => prepareRequest({ ...spec, method }, {})).toThrow(
    expect.objectContaining({ failure: 'refused', message: 'method is invalid: invalid HTTP method' }),
  );
});

it.each(['', 'a b', 'x\r\ny', 'é', 'x:', ':authority', '\0'])('refuses the header name %j', (name) => {
  expect(() => prepareRequest({ ...spec, headers: [{ name, value: '' }] }, {})).toThrow(
    'header name is invalid: invalid HTTP header name',
  );
});

it.each(['a\r\nb: c', 'a\nb', 'a\r', '\0', '\x7f', '\x01'])('refuses the header value %j', (value) => {
  const message = 'header value is invalid for X: failed to parse header value';
  expect(() => prepareRequest({ ...spec, headers: [{ name: 'X', value }] }, {})).toThrow(message);
  const headers = [{ name: 'X', value: '', valueEnvVar: 'V' }];
  expect(() => prepareRequest({ ...spec, headers }, { V: value })).toThrow(message);
});

it('looks at the method, then the URL, then the headers', () => {
  const headers = [{ name: 'a b', value: '\n', valueEnvVar: 'NONE' }];
  expect(() => prepareRequest({ ...spec, method: '', url: '', headers }, {})).toThrow('method is invalid');
  expect(() => prepareRequest({ ...spec, url: '', headers }, {})).toThrow('url is invalid');
  expect(() => prepareRequest({ ...spec, headers }, {})).toThrow('header name is invalid');
});

import { describe, expect, it } from 'vitest';
import type { Header } from '../../src/http/header-list.js';
import type { OutgoingRequest } from '../../src/http/prepare-request.js';
import { redirectedRequest } from '../../src/http/redirect.js';

const SENSITIVE = ['authorization', 'cookie', 'cookie2', 'proxy-authorization', 'www-authenticate'];
const ABOUT_BODY = ['content-type', 'content-length', 'content-encoding', 'transfer-encoding'];
const OTHERS = ['x-a', 'content-language', 'host', 'origin'];

const headers = [...SENSITIVE, ...ABOUT_BODY, ...OTHERS, 'referer'].map((name): Header => [name, 'v']);

function post(changes: Partial<OutgoingRequest> = {}): OutgoingRequest {
  return { method: 'POST', url: new URL('http://u:p@a/b?c#d'), headers, body: Buffer.from('x'), ...changes };
}

function follow(request: OutgoingRequest, status: number, location: string): OutgoingRequest | undefined {
  return redirectedRequest(request, status, [['location', location]]);
}

const names = (request: OutgoingRequest | undefined) => request?.headers.map(([name]) => name);

describe('the method', () => {
  it.each([
    [301, 'POST', 'GET'],
    [302, 'POST', 'GET'],
    [303, 'POST', 'GET'],
    [307, 'POST', 'POST'],
    [308, 'POST', 'POST'],
    [301, 'PUT', 'PUT'],
    [302, 'PUT', 'PUT'],
    [303, 'PUT', 'GET'],
    [303, 'HEAD', 'HEAD'],
    [302, 'HEAD', 'HEAD'],
  ])('after %d, %s is %s', (status, method, expected) => {
    const next = follow(post({ method }), status, '/');
    expect(next?.method).toBe(expected);
    const keepsBody = expected === method && status !== 303;
    expect(next?.body.toString()).toBe(keepsBody ? 'x' : '');
    expect(names(next)).toEqual(
      keepsBody ? [...SENSITIVE, ...ABOUT_BODY, ...OTHERS, 'referer'] : [...SENSITIVE, ...OTHERS, 'referer'],
    );
  });

  it.each([200, 300, 304, 305, 306, 400])('%d is no redirect', (status) => {
    expect(follow(post(), status, '/')).toBeUndefined();
  });
});

describe('headers', () => {
  it.each(['http://a:81/', 'https://a/', 'http://b/', '//b/'])('%s is another origin', (location) => {
    expect(names(follow(post(), 307, location))).toEqual([...ABOUT_BODY, ...OTHERS, 'referer']);
  });

  it.each([
    ['http://a/b?c#d', '/x', 'http://a/b?c'],
    ['http://a/b?c#d', 'http://other/', 'http://a/'],
    ['http://a/b?c#d', 'https://a/', 'http://a/'],
    ['https://a/b', 'https://a/x', 'https://a/b'],
    ['https://a/b', 'http://a/x', undefined],
  ])('from %s to %s the referer is %s', (from, to, expected) => {
    const next = follow(post({ url: new URL(from) }), 302, to);
    expect(next?.headers.find(([name]) => name === 'referer')?.[1]).toBe(expected);
  });
});

describe('the location', () => {
  it.each([
    ['x', 'http://u:p@a/x'],
    ['?y', 'http://u:p@a/b?y'],
    ['//b/z', 'http://b/z'],
  ])('%j leads to %s', (location, href) => {
    expect(follow(post(), 302, location)?.url.href).toBe(href);
  });

  it('that cannot be understood is not followed', () => {
    expect(follow(post(), 302, 'http://[::bad/')).toBeUndefined();
    expect(redirectedRequest(post(), 302, [])).toBeUndefined();
  });

  it('that leads out of HTTP is an error', () => {
    expect(() => follow(post(), 302, 'ftp://a/')).toThrow(
      expect.objectContaining({
        failure: 'no-response',
        message: 'redirect target uses unsupported URL scheme: ftp',
      }),
    );
  });
});

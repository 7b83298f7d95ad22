import { expect, it } from 'vitest';
import { describeProxy } from '../../src/network-proxy/proxy-variables.js';

it('names the proxies in every variable that programs read', () => {
  const variables = describeProxy({ http: 1, socks: 2 }, false);
  expect(variables.size).toBe(34);
  expect(Object.fromEntries(variables)).toMatchObject({
    HTTP_PROXY: 'http://127.0.0.1:1',
    https_proxy: 'http://127.0.0.1:1',
    npm_config_https_proxy: 'http://127.0.0.1:1',
    ALL_PROXY: 'socks5h://127.0.0.1:2',
    ftp_proxy: 'socks5h://127.0.0.1:2',
    NO_PROXY: '',
    npm_config_noproxy: '',
    ELECTRON_GET_USE_PROXY: 'true',
    NODE_USE_ENV_PROXY: '1',
    CODEX_NETWORK_PROXY_ACTIVE: '1',
    CODEX_NETWORK_ALLOW_LOCAL_BINDING: '0',
  });
});

it('without SOCKS everything goes over HTTP; a program with local binding reaches local hosts itself', () => {
  const variables = Object.fromEntries(describeProxy({ http: 1 }, true));
  expect(variables).toMatchObject({
    ALL_PROXY: 'http://127.0.0.1:1',
    no_proxy: 'localhost,127.0.0.1,::1,10.0.0.0/8,172.16.0.0/12,192.168.0.0/16',
    CODEX_NETWORK_ALLOW_LOCAL_BINDING: '1',
  });
});

/** Variables that name the proxy for HTTP, for all programs that read one. */
const HTTP_PROXY_VARIABLES = [
  ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy'],
  ['WS_PROXY', 'WSS_PROXY', 'ws_proxy', 'wss_proxy'],
  ['YARN_HTTP_PROXY', 'YARN_HTTPS_PROXY'],
  ['NPM_CONFIG_HTTP_PROXY', 'NPM_CONFIG_HTTPS_PROXY', 'NPM_CONFIG_PROXY'],
  ['npm_config_http_proxy', 'npm_config_https_proxy', 'npm_config_proxy'],
  ['BUNDLE_HTTP_PROXY', 'BUNDLE_HTTPS_PROXY', 'PIP_PROXY', 'DOCKER_HTTP_PROXY', 'DOCKER_HTTPS_PROXY'],
].flat();

/** Variables that name the proxy for everything else: SOCKS where there is one. */
const ANY_PROXY_VARIABLES = ['ALL_PROXY', 'all_proxy', 'FTP_PROXY', 'ftp_proxy'];

/** Variables that name what is reached without a proxy. */
const NO_PROXY_VARIABLES = [
  'NO_PROXY',
  'no_proxy',
  'NPM_CONFIG_NOPROXY',
  'npm_config_noproxy',
  'BUNDLE_NO_PROXY',
];

/** What a program that may talk to its own machine reaches directly. */
const LOCAL_HOSTS = 'localhost,127.0.0.1,::1,10.0.0.0/8,172.16.0.0/12,192.168.0.0/16';

/** Where a proxy listens on loopback. */
export interface ProxyPorts {
  readonly http: number;
  /** Absent without SOCKS. */
  readonly socks?: number | undefined;
}

/** What a program is told about its proxy. It counts more than what the program's environment said before. */
export function describeProxy(ports: ProxyPorts, allowLocalBinding: boolean): Map<string, string> {
  const http = `http://127.0.0.1:${ports.http}`;
  const any = ports.socks === undefined ? http : `socks5h://127.0.0.1:${ports.socks}`;
  const direct = allowLocalBinding ? LOCAL_HOSTS : '';
  return new Map([
    ...HTTP_PROXY_VARIABLES.map((name) => [name, http] as const),
    ...ANY_PROXY_VARIABLES.map((name) => [name, any] as const),
    ...NO_PROXY_VARIABLES.map((name) => [name, direct] as const),
    ['ELECTRON_GET_USE_PROXY', 'true'],
    ['NODE_USE_ENV_PROXY', '1'],
    ['CODEX_NETWORK_PROXY_ACTIVE', '1'],
    ['CODEX_NETWORK_ALLOW_LOCAL_BINDING', allowLocalBinding ? '1' : '0'],
  ]);
}

import { BlockList, isIP } from 'node:net';
import { embeddedIpv4 } from './embedded-ipv4.js';

/** Networks that lead to this machine, to its neighbours, or to nowhere, instead of to the internet. */
const LOCAL_NETWORKS = [
  // This network, private networks, loopback, carriers' own, link-local with its metadata services.
  ['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'],
  // Special assignments, the former way to a 6to4 relay, private networks, measurements.
  ['192.0.0.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15'],
  // Documentation, multicast, reserved and broadcast.
  ['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
  // Unspecified, loopback; discard and dummy; unique local; link- and site-local; multicast; segment routing.
  [
    '::/128',
    '::1/128',
    '100::/64',
    '100:0:0:1::/64',
    'fc00::/7',
    'fe80::/10',
    'fec0::/10',
    'ff00::/8',
    '5f00::/16',
  ],
  // Documentation, and special assignments, Teredo among them.
  ['2001:db8::/32', '3fff::/20', '2001::/23'],
  // Addresses with any IPv4 address in them: compatible and translated, translation with both prefixes, 6to4.
  ['::/96', '::ffff:0:0:0/96', '64:ff9b::/96', '64:ff9b:1::/48', '2002::/16'],
].flat();

let localNetworks: BlockList | undefined;

/** Made at first use: it takes milliseconds, of which most servers never have a use. */
function findLocalNetworks(): BlockList {
  if (localNetworks !== undefined) return localNetworks;
  localNetworks = new BlockList();
  for (const network of LOCAL_NETWORKS) {
    const [address = '', prefix] = network.split('/');
    localNetworks.addSubnet(address, Number(prefix), isIP(address) === 4 ? 'ipv4' : 'ipv6');
  }
  return localNetworks;
}

/** Whether an address is anything but one of the public internet. IPv4 inside of IPv6 counts as what it is, too. */
export function isLocalAddress(address: string): boolean {
  const [bare = ''] = address.split('%');
  return [bare, ...embeddedIpv4(bare)].some(isInLocalNetwork);
}

function isInLocalNetwork(address: string): boolean {
  const family = isIP(address);
  return family === 0 || findLocalNetworks().check(address, family === 4 ? 'ipv4' : 'ipv6');
}

/** Whether a normalized host names a local address by itself, without being looked up. */
export function isLocalHost(host: string): boolean {
  return isIP(host) === 0 ? host === 'localhost' || host.endsWith('.localhost') : isLocalAddress(host);
}

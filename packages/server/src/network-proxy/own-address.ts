import { BlockList, isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { isLoopbackAddress, isWildcardAddress } from '../listen/ip-address.js';
import { isOwnPort } from '../listen/own-ports.js';
import { embeddedIpv4 } from './rules/embedded-ipv4.js';

/** Whether a connection would be one to this server itself: to a listener, or to the proxy of any process. */
export function isOwnEndpoint(address: string, port: number): boolean {
  return isOwnPort(port) && leadsHere(address);
}

/** Whether a connection to an address is one to this machine; so is one to no address at all, `0.0.0.0`. */
function leadsHere(address: string): boolean {
  const [bare = ''] = address.split('%');
  const candidates = [bare, ...embeddedIpv4(bare)];
  if (candidates.some((candidate) => isLoopbackAddress(candidate) || isWildcardAddress(candidate)))
    return true;
  const here = listOwnAddresses();
  return candidates.some((candidate) => here.check(candidate, familyOf(candidate)));
}

/** Looked at each time: a machine gets and loses addresses while the server runs. */
function listOwnAddresses(): BlockList {
  const here = new BlockList();
  for (const { address } of Object.values(networkInterfaces()).flatMap((found) => found ?? [])) {
    const [bare = ''] = address.split('%');
    here.addAddress(bare, familyOf(bare));
  }
  return here;
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 4 ? 'ipv4' : 'ipv6';
}

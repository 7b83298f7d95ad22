import { BlockList, isIP } from 'node:net';

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** Whether an IP literal without brackets reaches only this machine. IPv4 inside IPv6 counts as what it is. */
export function isLoopbackAddress(address: string): boolean {
  const family = isIP(address);
  return family !== 0 && loopback.check(address, family === 6 ? 'ipv6' : 'ipv4');
}

/** Whether binding the IP literal takes connections on every interface. */
export function isWildcardAddress(address: string): boolean {
  return isIP(address) !== 0 && /^[0.:]+$/.test(address);
}

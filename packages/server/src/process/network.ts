import type { NetworkProxyLaunch } from '@exec-server/protocol';
import { isLoopbackAddress } from '../listen/ip-address.js';
import { isOwnPort } from '../listen/own-ports.js';
import type { SendQuestion } from '../network-proxy/ask-client.js';
import type { PolicyDecision } from '../network-proxy/decision.js';
import type { NetworkProxy } from '../network-proxy/network-proxy.js';
import {
  BridgedNetwork,
  LoopbackNetwork,
  type ProcessNetwork,
  SandboxNetwork,
} from '../network-proxy/process-network.js';
import { ProxyConfigError } from '../network-proxy/proxy-config-error.js';
import { normalizeHost } from '../network-proxy/rules/host-name.js';
import type { Session } from '../sessions/session.js';
import { type Confinement, hasOwnNetwork } from './confinement.js';
import type { StartRequest } from './launch-plan.js';
import type { ProcessEngine } from './process-engine.js';
import { subject } from './records.js';
import { StartError } from './start-error.js';

/** Ports of proxies that a sandbox may be given at once. */
const MAX_BRIDGED_PORTS = 16;

/**
 * How a process is to reach the network; nothing when it is to do so like everybody, or not at all. Nothing is opened
 * yet. Throws {@link StartError}.
 */
export function planNetwork(
  engine: ProcessEngine,
  session: Session,
  request: StartRequest,
  confinement: Confinement,
): ProcessNetwork | undefined {
  const { networkProxy, sandbox, enforceManagedNetwork } = confinement;
  if (networkProxy) {
    const proxy = createProxy(engine, session, request, networkProxy);
    const { allowLocalBinding } = networkProxy.proxy;
    return hasOwnNetwork(confinement)
      ? new SandboxNetwork(proxy, allowLocalBinding)
      : new LoopbackNetwork(proxy, allowLocalBinding);
  }
  if (!sandbox || enforceManagedNetwork !== true) return undefined;
  return new BridgedNetwork(findProxyPorts(request, confinement));
}

/** Makes the proxy of a process. Whoever is attached to the session when it matters decides. */
function createProxy(
  engine: ProcessEngine,
  session: Session,
  request: StartRequest,
  launch: NetworkProxyLaunch,
): NetworkProxy {
  const { processId } = request;
  const timeoutMs = launch.policyDecisionTimeoutMs;
  const send: SendQuestion = async (target, options) => {
    if (session.network === undefined) throw new Error('nobody is there to decide');
    return session.network.ask({ processId, request: target }, options);
  };
  try {
    return engine.networkProxies.create(launch.proxy, {
      ask: timeoutMs === undefined || timeoutMs === null ? undefined : { send, timeoutMs },
      onDecision: (decision) => {
        recordDecision(engine, session, request, launch, decision);
        session.network?.tell({ processId, timestamp: new Date().toISOString(), ...decision });
      },
    });
  } catch (error) {
    if (!(error instanceof ProxyConfigError)) throw error;
    throw new StartError('refused', `invalid network proxy config: ${error.message}`, { cause: error });
  }
}

function recordDecision(
  engine: ProcessEngine,
  session: Session,
  request: StartRequest,
  { environmentId, executionId, auditMetadata }: NetworkProxyLaunch,
  { protocol, host, port, decision, source, reason }: PolicyDecision,
): void {
  try {
    engine.auditLog.record({
      event: 'network-decided',
      ...subject(session, request),
      protocol,
      host,
      port,
      decision,
      source,
      reason,
      context: { environmentId, executionId, ...auditMetadata },
    });
  } catch (err) {
    engine.logger.error({ err }, 'the audit log cannot be written');
  }
}

/** Where on loopback the proxy is that a command was told of. */
function findProxyPorts({ command }: StartRequest, { managedNetwork }: Confinement): number[] {
  const told = Object.entries(command.env)
    .filter(([name]) => /_proxy$/i.test(name) && !/(^|_)no_proxy$/i.test(name))
    .flatMap(([, value]) => readLoopbackPort(value ?? ''));
  const ports = [...new Set([...(managedNetwork?.loopbackPorts ?? []), ...told])];
  if (ports.length === 0)
    throw new StartError('refused', unenforceable('managed proxy mode requires proxy environment variables'));
  if (ports.length > MAX_BRIDGED_PORTS)
    throw new StartError('refused', unenforceable(`more than ${MAX_BRIDGED_PORTS} proxies`));
  const own = ports.find((port) => isOwnPort(port, 'listener'));
  if (own !== undefined)
    throw new StartError('refused', unenforceable(`port ${own} is no proxy, but this server's own`));
  return ports;
}

function unenforceable(reason: string): string {
  return `sandbox intent cannot be enforced on this executor: ${reason}`;
}

function readLoopbackPort(proxy: string): number[] {
  if (!URL.canParse(proxy)) return [];
  const url = new URL(proxy);
  const host = normalizeHost(url.hostname) ?? '';
  const isHere = host === 'localhost' || isLoopbackAddress(host);
  return isHere && url.port !== '' ? [Number(url.port)] : [];
}

import { homedir } from 'node:os';
import type { ResolvedPolicy } from './policy/policy.js';

/*
 * A read-only mount does not keep anybody from connecting to a socket in it, and behind some sockets is somebody who
 * runs whatever he is asked to, outside of the sandbox. This server is one of them.
 */

/** Sockets of daemons that run programs for their clients. */
const DAEMON_SOCKETS = [
  '/run/docker.sock',
  '/run/cri-dockerd.sock',
  '/run/containerd/containerd.sock',
  '/run/k3s/containerd/containerd.sock',
  '/run/buildkit/buildkitd.sock',
  '/run/crio/crio.sock',
  '/run/podman/podman.sock',
  '/var/lib/incus/unix.socket',
  '/var/lib/lxd/unix.socket',
  '/var/snap/lxd/common/lxd/unix.socket',
  '/run/dbus/system_bus_socket',
  '/run/systemd/private',
  '/run/snapd.socket',
];

/** Variables that say where a user's own services listen, and what is before the path. */
const SOCKET_VARIABLES: readonly (readonly [name: string, prefix: string])[] = [
  ['SSH_AUTH_SOCK', ''],
  ['TMUX', ''],
  ['DBUS_SESSION_BUS_ADDRESS', 'unix:path='],
  ['DOCKER_HOST', 'unix://'],
  ['CONTAINER_HOST', 'unix://'],
];

/** What a path has to be to be hidden: a variable may say anything. */
export interface HiddenPath {
  readonly path: string;
  readonly kind: 'socket' | 'directory';
}

const own = new Set<HiddenPath>();

/**
 * Hides a socket of this server, or a directory with one, from every sandbox that starts from here on, until the returned
 * function is called.
 */
export function hideSocket(path: string, kind: HiddenPath['kind'] = 'socket'): () => void {
  const hidden = { path, kind };
  own.add(hidden);
  return () => void own.delete(hidden);
}

/** What sandboxes hide unless a rule is about it. It need not exist. */
export function listHiddenPaths(network: ResolvedPolicy['network']): HiddenPath[] {
  const user = process.getuid?.();
  if (user === undefined) return [...own];
  return [
    directory(`/run/user/${user}`),
    directory('/run/libvirt'),
    ...(network === 'enabled' ? [] : listSessionPaths(user, process.env)),
    ...DAEMON_SOCKETS.map(socket),
    ...own,
  ];
}

/** Where programs listen that a user started himself: terminals, agents, screens, editors. */
export function listSessionPaths(user: number, env: Readonly<NodeJS.ProcessEnv>): HiddenPath[] {
  const home = homedir();
  const directories = [
    `${env.TMUX_TMPDIR || '/tmp'}/tmux-${user}`,
    `/tmp/emacs${user}`,
    '/run/screen',
    `${home}/.screen`,
    '/tmp/.X11-unix',
    '/tmp/.ICE-unix',
  ];
  const agents = ['', '.extra', '.browser', '.ssh'].map((kind) => `${home}/.gnupg/S.gpg-agent${kind}`);
  const named = SOCKET_VARIABLES.flatMap(([name, prefix]) => {
    const value = env[name] ?? '';
    return value.startsWith(prefix) ? value.slice(prefix.length).split(/[,;]/, 1) : [];
  });
  return [...directories.map(directory), ...[...agents, ...named].map(socket)].filter(({ path }) =>
    path.startsWith('/'),
  );
}

function socket(path: string): HiddenPath {
  return { path, kind: 'socket' };
}

function directory(path: string): HiddenPath {
  return { path, kind: 'directory' };
}

/*
 * A read-only mount does not keep anybody from connecting to a socket in it, and behind some sockets is somebody who
 * runs whatever he is asked to, outside of the sandbox. This server is one of them.
 */

/** Sockets of daemons that run programs for their clients. */
const DAEMON_SOCKETS = [
  '/run/docker.sock',
  '/run/containerd/containerd.sock',
  '/run/crio/crio.sock',
  '/run/podman/podman.sock',
  '/run/dbus/system_bus_socket',
  '/run/systemd/private',
  '/run/snapd.socket',
];

const ownSockets = new Set<string>();

/** Hides a socket of this server from every sandbox that starts from here on, until the returned function is called. */
export function hideSocket(path: string): () => void {
  ownSockets.add(path);
  return () => void ownSockets.delete(path);
}

/** Sockets that sandboxes hide, unless a rule is about them. They need not exist. */
export function listHiddenSockets(): string[] {
  return [...DAEMON_SOCKETS, ...ownSockets];
}

/** Directories with the sockets of a user's own services, such as the manager that starts programs for him. */
export function listHiddenDirectories(): string[] {
  const user = process.getuid?.();
  return user === undefined ? [] : [`/run/user/${user}`];
}

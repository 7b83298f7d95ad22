/** What a person at a terminal sees who starts the command without arguments. */
export const EXPLANATION = `exec-server lets a program on one machine run, watch and control processes on another.

  exec-server --listen ws://127.0.0.1:7711       serve WebSocket clients on this machine
  exec-server --listen unix:///tmp/exec.sock     serve this user only, through a socket file
  exec-server --listen stdio                     serve the program that started it
  exec-server run --connect URL -- COMMAND       run a command there as if it ran here

See exec-server --help for authentication, TLS, limits, logs and all commands.
`;

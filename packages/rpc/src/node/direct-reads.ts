import { type OnReadOpts, Socket, type SocketConstructorOpts } from 'node:net';
import type { WebSocket } from 'ws';
import { TextFrameReader } from './text-frame-reader.js';

/** What Node keeps below a socket. Not public; this is all of it that is used here. */
interface StreamHandle {
  /** Has everything be read into this memory. */
  useUserBuffer?(memory: Uint8Array): void;
}

/** Node takes the handle like this from itself, and `onread` as documented. */
interface DirectSocketOptions extends SocketConstructorOpts {
  readonly handle: StreamHandle;
  readonly onread: OnReadOpts;
}

/** A connection whose frames are read directly. */
export interface DirectReads {
  /** What the WebSocket is to be made of. */
  readonly stream: Socket;
  /** Has the messages be told by the WebSocket that was made of it, as by any other. */
  deliverTo(webSocket: WebSocket): void;
}

/**
 * Takes a connection over from `socket`, which is gone afterwards, to read its text messages with {@link TextFrameReader}.
 * Nothing for connections where that cannot be done, and `socket` stays as it is: those with encryption, and where
 * something was read already.
 *
 * Node lets memory to read into be given to sockets that connect or have a descriptor, not to those that a server
 * accepts. So the accepted one's handle goes to a new socket.
 */
export function readDirectly(socket: Socket, maxMessageBytes: number): DirectReads | undefined {
  const handle = (socket as { _handle?: StreamHandle | null })._handle;
  if (typeof handle?.useUserBuffer !== 'function') return undefined;
  if ('encrypted' in socket || socket.readableLength > 0 || socket.readableEnded) return undefined;
  let target: WebSocket | undefined;
  const reader = new TextFrameReader(maxMessageBytes, {
    canDeliver: () => isOpen(target) && !stream.isPaused() && stream.readableLength === 0,
    deliver: (text) => target?.emit('message', text, false),
    passOn: (bytes) => stream.push(bytes),
  });
  const options: DirectSocketOptions = {
    handle,
    allowHalfOpen: socket.allowHalfOpen,
    onread: { buffer: () => reader.makeRoom(), callback: (length) => reader.receive(length) },
  };
  Object.assign(socket, { _handle: null });
  const stream = new Socket(options);
  socket.destroy();
  return {
    stream,
    deliverTo(webSocket) {
      target = webSocket;
    },
  };
}

function isOpen(webSocket: WebSocket | undefined): boolean {
  return webSocket !== undefined && webSocket.readyState === webSocket.OPEN;
}

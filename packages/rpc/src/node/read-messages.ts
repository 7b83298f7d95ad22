import { type OnReadOpts, Socket, type SocketConstructorOpts } from 'node:net';
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { MessageLimit } from '../message-limit.js';
import type { KeptBytes } from '../transport.js';
import { FilteredStream } from './filtered-stream.js';
import { MessageReader } from './message-reader.js';

/** WebSocket close code for a message that is too long. */
const CLOSE_TOO_LONG = 1009;

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

/** What has come of messages that are not whole yet. */
export interface InboundMessages {
  /** Memory that is held for them, in bytes. */
  readonly heldBytes: number;
  /** Called when `heldBytes` has changed. */
  onHeld: () => void;
  /** Sets another limit for messages that follow; without one the first holds again. */
  limitMessages(limit?: MessageLimit): void;
  /** Has a message that the WebSocket tells now be the receiver's until it is released. Otherwise it is not, afterwards. */
  keep(message: Buffer): KeptBytes;
  /** Takes no more messages, and lets go of what is not whole. */
  drop(): void;
}

/** A connection whose messages are read before they come to the WebSocket that is made of it. */
export interface MessageReads {
  /** What the WebSocket is to be made of. */
  readonly stream: Duplex;
  /** The socket below, which is `stream` itself where that is one. */
  readonly socket: Socket;
  readonly inbound: InboundMessages;
  /** Has the messages be told by the WebSocket that was made of `stream`, as by any other. */
  deliverTo(webSocket: WebSocket): void;
}

/**
 * Takes over `socket`, on which a client sends WebSocket frames, to read its messages with a {@link MessageReader}. Where
 * it can be, the kernel reads them into the memory that they stay in.
 *
 * @param head what was read of the frames already
 */
export function readMessages(socket: Socket, head: Buffer, limit: MessageLimit): MessageReads {
  let target: WebSocket | undefined;
  const reader: MessageReader = new MessageReader(limit, {
    isReady: () => target !== undefined && !stream.isPaused() && stream.readableLength === 0,
    deliver: (message, isBinary) => target?.emit('message', message, isBinary),
    passOn: (bytes) => stream.push(bytes),
    refuse(error) {
      target?.close(CLOSE_TOO_LONG, error.message);
      target?.emit('error', error);
    },
  });
  const direct = head.length === 0 ? readDirectly(socket, reader) : undefined;
  const stream: Duplex = direct ?? new FilteredStream(socket, head, reader);
  // What the stream holds itself comes right after this event, and before what waits.
  stream.on('resume', () => process.nextTick(() => reader.proceed()));
  stream.once('close', () => reader.dispose());
  return {
    stream,
    socket: direct ?? socket,
    inbound: reader,
    deliverTo(webSocket) {
      target = webSocket;
    },
  };
}

/**
 * A socket with the connection of `socket`, which is gone afterwards. Nothing for connections where that cannot be done,
 * and `socket` stays as it is: those with encryption, and where something was read already.
 *
 * Node lets memory to read into be given to sockets that connect or have a descriptor, not to those that a server
 * accepts. So the accepted one's handle goes to a new socket.
 */
function readDirectly(socket: Socket, reader: MessageReader): Socket | undefined {
  const handle = (socket as { _handle?: StreamHandle | null })._handle;
  if (typeof handle?.useUserBuffer !== 'function') return undefined;
  if ('encrypted' in socket || socket.readableLength > 0 || socket.readableEnded) return undefined;
  const options: DirectSocketOptions = {
    handle,
    allowHalfOpen: socket.allowHalfOpen,
    onread: { buffer: () => reader.makeRoom(), callback: (length) => reader.receive(length) },
  };
  Object.assign(socket, { _handle: null });
  const direct = new Socket(options);
  socket.destroy();
  return direct;
}

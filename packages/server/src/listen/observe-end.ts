import type { KeepBytes, Transport } from '@exec-server/rpc';

/** The same transport, and a promise that resolves when it has ended and its owner knows. */
export function observeEnd(transport: Transport): { transport: Transport; ended: Promise<void> } {
  let resolveEnded = () => {};
  const ended = new Promise<void>((resolve) => {
    resolveEnded = resolve;
  });
  const observed: Transport = {
    label: transport.label,
    framing: transport.framing,
    get bufferedBytes() {
      return transport.bufferedBytes;
    },
    get heldBytes() {
      return transport.heldBytes ?? 0;
    },
    limitMessages: (limit) => transport.limitMessages?.(limit),
    open: (handlers) =>
      transport.open({
        onMessage: (text) => handlers.onMessage(text),
        ...(handlers.onLongMessage !== undefined && {
          onLongMessage: (bytes: Uint8Array, keep: KeepBytes) => handlers.onLongMessage?.(bytes, keep),
        }),
        onMalformed: (detail) => handlers.onMalformed(detail),
        onDrain: () => handlers.onDrain(),
        onHeld: () => handlers.onHeld?.(),
        // Present only where the owner has it: its absence makes the transport close by itself.
        ...(handlers.onEnd !== undefined && { onEnd: () => handlers.onEnd?.() }),
        onClose: (reason) => {
          resolveEnded();
          handlers.onClose(reason);
        },
      }),
    send: (text) => transport.send(text),
    sendBytes: (line, onFree) => transport.sendBytes(line, onFree),
    ...(transport.measureActivity && {
      measureActivity: (untilNextMs: number) => transport.measureActivity?.(untilNextMs) ?? 0,
    }),
    pause: () => transport.pause(),
    resume: () => transport.resume(),
    close: (options) => transport.close(options),
    destroy: (reason) => transport.destroy(reason),
  };
  return { transport: observed, ended };
}

import { isResponseTo, openWire, type Wire, type WireMessage } from '@exec-server/testing';
import { onTestFinished } from 'vitest';

export const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
export const TRACE_PARENT = `00-${TRACE_ID}-b7ad6b7169203331-01`;

/** A connection whose requests come with a trace context. */
export interface TracedWire extends Pick<Wire, 'next' | 'terminate'> {
  request(method: string, params: object): Promise<WireMessage>;
}

/** A connection that has shaken hands and puts `trace` into every request. */
export async function openTracedWire(
  url: string,
  trace: object = { traceparent: TRACE_PARENT },
): Promise<TracedWire> {
  const wire = await openWire(url);
  onTestFinished(() => wire.terminate());
  let lastId = 0;
  const request = (method: string, params: object) => {
    const id = `traced-${++lastId}`;
    wire.send({ id, method, params, trace });
    return wire.next(isResponseTo(id), `the response to ${method}`);
  };
  await request('initialize', { clientName: 'test' });
  wire.send({ method: 'initialized' });
  return { request, next: wire.next.bind(wire), terminate: () => wire.terminate() };
}

import { Readable } from 'node:stream';
import { MAX_HTTP_DELTA_BYTES } from '@exec-server/protocol';
import { describe, expect, it } from 'vitest';
import { ActiveRequests } from '../../src/http/active-requests.js';
import { type HttpBody, StreamedBody } from '../../src/http/http-body.js';
import type { HttpError } from '../../src/http/http-error.js';
import { type BodySink, collectBody, streamBody } from '../../src/http/read-body.js';
import { FakeClock } from '../support/fake-clock.js';

function begin(requests = new ActiveRequests()) {
  const limits = { httpRequests: 10, httpBufferedBytes: 10 };
  return requests.begin({ requestId: 'a', streamed: true, clock: new FakeClock() }, limits);
}

function bodyOf(...chunks: (Buffer | Error)[]): HttpBody {
  async function* read() {
    for (const chunk of chunks) {
      if (chunk instanceof Error) throw chunk;
      yield chunk;
    }
  }
  return new StreamedBody(Readable.from(read()));
}

/** Takes everything and says when it has. */
class RecordingSink implements BodySink {
  readonly pieces: Buffer[] = [];
  end: { error: HttpError | undefined } | undefined;
  writable = true;
  #catchUp: (() => void)[] = [];

  piece(data: Buffer): void {
    this.pieces.push(data);
  }

  done(error: HttpError | undefined): void {
    this.end = { error };
  }

  whenWritable(): Promise<void> {
    return new Promise((resolve) => this.#catchUp.push(resolve));
  }

  catchUp(): void {
    this.writable = true;
    for (const resolve of this.#catchUp.splice(0)) resolve();
  }
}

describe('streamBody', () => {
  it.each([
    [MAX_HTTP_DELTA_BYTES - 1, [MAX_HTTP_DELTA_BYTES - 1]],
    [MAX_HTTP_DELTA_BYTES, [MAX_HTTP_DELTA_BYTES]],
    [MAX_HTTP_DELTA_BYTES + 1, [MAX_HTTP_DELTA_BYTES, 1]],
    [0, []],
  ])('cuts a chunk of %d bytes into %j', async (length, expected) => {
    const sink = new RecordingSink();
    await streamBody(bodyOf(Buffer.alloc(length)), sink, begin());
    expect(sink.pieces.map((piece) => piece.length)).toEqual(expected);
    expect(sink.end).toEqual({ error: undefined });
  });

  it('reads on only while the sink takes it', async () => {
    const sink = new RecordingSink();
    sink.writable = false;
    const body = new Readable({ read() {} });
    body.push('1');
    const streaming = streamBody(new StreamedBody(body), sink, begin());
    while (sink.pieces.length === 0) await new Promise((resolve) => setImmediate(resolve));
    body.push('2');
    body.push(null);
    await new Promise((resolve) => setImmediate(resolve));
    expect(Buffer.concat(sink.pieces).toString()).toBe('1');
    sink.catchUp();
    await streaming;
    expect(Buffer.concat(sink.pieces).toString()).toBe('12');
  });

  it('says why a body is not whole', async () => {
    const sink = new RecordingSink();
    await streamBody(bodyOf(Buffer.from('x'), new Error('reset')), sink, begin());
    expect(sink.end?.error).toMatchObject({ failure: 'body', message: 'error decoding response body' });
  });

  it('says that it was cancelled', async () => {
    const sink = new RecordingSink();
    const request = begin();
    request.cancel();
    await streamBody(bodyOf(new Error('aborted')), sink, request);
    expect(sink.end?.error).toMatchObject({ failure: 'cancelled', message: 'request cancelled' });
  });

  it('frees the id before the last word', async () => {
    const requests = new ActiveRequests();
    const sink = new RecordingSink();
    let taken: unknown;
    sink.done = () => {
      taken = begin(requests);
    };
    await streamBody(bodyOf(), sink, begin(requests));
    expect(taken).toBeDefined();
  });
});

describe('collectBody', () => {
  it.each([9, 10])('collects %d bytes of 10', async (length) => {
    const body = await collectBody(bodyOf(Buffer.alloc(4), Buffer.alloc(length - 4)), begin());
    expect(body).toHaveLength(length);
  });

  it('gives up beyond the limit', async () => {
    await expect(collectBody(bodyOf(Buffer.alloc(4), Buffer.alloc(7)), begin())).rejects.toMatchObject({
      failure: 'body-too-large',
    });
  });

  it('gives up where the body does', async () => {
    await expect(collectBody(bodyOf(new Error('reset')), begin())).rejects.toMatchObject({ failure: 'body' });
  });
});

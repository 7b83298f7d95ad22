import { beforeEach, expect, it } from 'vitest';
import { outputBlocks } from '../../src/native/block-pool.js';
import { RetainedChunk } from '../../src/output/retained-chunk.js';
import { RetainedLog } from '../../src/output/retained-log.js';

let block: Buffer<ArrayBuffer>;
beforeEach(() => {
  block = outputBlocks.take();
});

/** Whether the memory is handed out for something else. */
const isUsedAgain = () => outputBlocks.take().buffer === block.buffer;
const openChunk = () => new RetainedChunk(1, 'stdout', block);

it('gives its memory back when its only holder lets go', () => {
  const chunk = openChunk();
  expect(chunk.length).toBe(block.length);
  chunk.release();
  expect(isUsedAgain()).toBe(true);
});

it('keeps its memory while it is borrowed, by one or by several', () => {
  const chunk = openChunk();
  expect(chunk.borrow()).toBe(block);
  expect(chunk.borrow()).toBe(block);
  chunk.release();
  expect(isUsedAgain()).toBe(false);
  chunk.release();
  expect(isUsedAgain()).toBe(false);
  chunk.release();
  expect(isUsedAgain()).toBe(true);
});

it('leaves bytes alone that somebody may have kept', () => {
  const chunk = openChunk();
  const { data } = chunk;
  chunk.release();
  expect(isUsedAgain()).toBe(false);
  expect(chunk.data).toBe(data);
});

it('tells nobody the bytes of somebody else', () => {
  const chunk = openChunk();
  chunk.release();
  expect(() => chunk.data).toThrow('output 1 is held by nobody any more');
  expect(() => chunk.borrow()).toThrow('output 1 is held by nobody any more');
  chunk.release();
  expect(isUsedAgain()).toBe(true);
  expect(isUsedAgain()).toBe(false);
});

it('is held by the log and by whom the log gave it to', () => {
  const log = new RetainedLog({ bytes: block.length, chunks: 10 });
  const chunk = log.append('stdout', block);
  chunk.release();
  expect(isUsedAgain()).toBe(false);
  log.append('stdout', Buffer.from('x'));
  expect(isUsedAgain()).toBe(true);
});

it('outlives a log that has no room for it', () => {
  const chunk = new RetainedLog({ bytes: 1, chunks: 10 }).append('stdout', block);
  expect(chunk.borrow()).toBe(block);
  chunk.release();
  expect(isUsedAgain()).toBe(false);
  chunk.release();
  expect(isUsedAgain()).toBe(true);
});

import { expect, it } from 'vitest';
import { ProgressBar, renderProgress } from '../../src/files/progress-bar.js';
import { TextSink } from '../support.js';

const HALF = { path: 'x', bytes: 512, totalBytes: 1024, files: 1, totalFiles: 4 };

it('shows share, bytes, speed and files', () => {
  expect(renderProgress('tree', HALF, 500, 79)).toBe(
    'tree [###############---------------]  50%  512 B  1.0 KiB/s  1/4 files',
  );
});

it('leaves the count out for one file, and the speed before there is one', () => {
  expect(renderProgress('f', { ...HALF, totalFiles: 1 }, 0, 79)).toMatch(/\] {2}50% {2}512 B$/);
});

it('empty files are counted', () => {
  const empty = { path: '', bytes: 0, totalBytes: 0, files: 1, totalFiles: 2 };
  expect(renderProgress('f', empty, 0, 79)).toContain('] 50%'.replace('] ', ']  '));
  expect(renderProgress('f', { ...empty, totalFiles: 0, files: 0 }, 0, 79)).toContain('  0%');
});

it('a file that grew is no more than complete', () => {
  expect(renderProgress('f', { ...HALF, bytes: 2048 }, 0, 79)).toContain('100%');
});

it.each([20, 30, 45, 60])('fits %d columns', (width) => {
  const line = renderProgress('a/very/long/path/of/a/file.txt', HALF, 500, width);
  expect(line.length).toBeLessThanOrEqual(width);
  expect(line).toContain('…');
});

it('draws at most so often, and the last state in any case', () => {
  const stream = Object.assign(new TextSink(), { columns: 60 });
  const bar = new ProgressBar(stream, 'evil\u001b[2J');
  for (let bytes = 0; bytes <= 1024; bytes += 256) bar.update({ ...HALF, bytes });
  bar.end();
  const pictures = stream.text.split('\r\u001b[K').slice(1);
  expect(pictures.length).toBeLessThan(5);
  expect(pictures.at(-1)).toMatch(/^evil\\x1b\[2J .*100% .*\n$/);
});

it('draws nothing where nothing happened', () => {
  const stream = new TextSink();
  new ProgressBar(stream, 'x').end();
  expect(stream.text).toBe('');
});

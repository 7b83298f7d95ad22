// Writes many files into one, which packages/cli/bin/load-bundle.js reads.
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { deflateRawSync, constants as zlib } from 'node:zlib';

/** V8 copies compiled code that does not begin at a multiple of this, in bytes. */
const ALIGNMENT = 8;

/**
 * Writes a line of JSON, `{name: {begin, end, deflated?}}`, and then the bytes that these count in.
 * @param {string} file its old content stays whole until the new one takes its place
 * @param {ReadonlyMap<string, Uint8Array>} contents
 * @param {ReadonlySet<string>} [deflated] names of those that few runs use
 */
export function packFiles(file, contents, deflated = new Set()) {
  const places = {};
  const parts = [];
  let length = 0;
  const append = (bytes) => {
    parts.push(bytes, Buffer.alloc(paddingAfter(bytes.length)));
    length += bytes.length + paddingAfter(bytes.length);
  };
  for (const [name, content] of contents) {
    const isDeflated = deflated.has(name);
    const bytes = isDeflated ? deflateRawSync(content, { level: zlib.Z_BEST_COMPRESSION }) : content;
    places[name] = { begin: length, end: length + bytes.length, ...(isDeflated && { deflated: true }) };
    append(bytes);
  }
  const index = JSON.stringify(places);
  const line = `${index}${' '.repeat(paddingAfter(index.length + 1))}\n`;
  mkdirSync(dirname(file), { recursive: true });
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, Buffer.concat([Buffer.from(line), ...parts]));
  renameSync(draft, file);
}

function paddingAfter(length) {
  return (ALIGNMENT - (length % ALIGNMENT)) % ALIGNMENT;
}

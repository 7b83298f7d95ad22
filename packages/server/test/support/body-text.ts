import type { HttpBody } from '../../src/http/http-body.js';

/** Reads a body to its end, each byte as one character. */
export async function bodyText(body: HttpBody): Promise<string> {
  let text = '';
  await body.read((bytes) => {
    text += bytes.toString('latin1');
  });
  return text;
}

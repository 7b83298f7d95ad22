import { readFile } from 'node:fs/promises';
import { createSecureContext, rootCertificates, type SecureContext } from 'node:tls';
import type { ServerEnv } from './header-env-vars.js';

/** Where systems keep the certificates that they trust, most common first. */
const SYSTEM_BUNDLES = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem',
  '/etc/ssl/ca-bundle.pem',
  '/etc/ssl/cert.pem',
];

/** Whom connections to servers trust; read once, when the first one is made. */
export class TrustStore {
  #context: Promise<SecureContext> | undefined;

  constructor(private readonly env: ServerEnv) {}

  /** Reading a hundred certificates takes its time, so all connections share the outcome. */
  context(): Promise<SecureContext> {
    this.#context ??= this.#load();
    return this.#context;
  }

  /** What the system trusts (or `SSL_CERT_FILE` in its place), and beside it `NODE_EXTRA_CA_CERTS`. */
  async #load(): Promise<SecureContext> {
    const { SSL_CERT_FILE, NODE_EXTRA_CA_CERTS } = this.env;
    const system = await readFirst(SSL_CERT_FILE ? [SSL_CERT_FILE, ...SYSTEM_BUNDLES] : SYSTEM_BUNDLES);
    const extra = await readFirst(NODE_EXTRA_CA_CERTS ? [NODE_EXTRA_CA_CERTS] : []);
    const trusted = system === undefined ? [...rootCertificates] : [system];
    return createSecureContext({ ca: extra === undefined ? trusted : [...trusted, extra] });
  }
}

async function readFirst(files: readonly string[]): Promise<string | undefined> {
  for (const file of files) {
    try {
      return await readFile(file, 'utf8');
    } catch {
      // The next place, or none.
    }
  }
  return undefined;
}

import { type app, encodeNotification } from '@exec-server/protocol';
import type { ConnectionResource } from '../dialect.js';

/** What a client asked for in its `initialize`. */
export class Agreement implements ConnectionResource {
  #experimentalApi = false;
  #unwanted: ReadonlySet<string> = new Set();

  settle({ experimentalApi = false, optOutNotificationMethods = [] }: app.InitializeCapabilities): void {
    this.#experimentalApi = experimentalApi;
    this.#unwanted = new Set(optOutNotificationMethods);
  }

  /** Whether methods and members may be used that can still change. */
  get experimentalApi(): boolean {
    return this.#experimentalApi;
  }

  wants(notification: string): boolean {
    return !this.#unwanted.has(notification);
  }

  /** A notification as this dialect has it, with the time beside its params; absent when the client opted out. */
  encodeNotification(method: string, params: unknown): Uint8Array | undefined {
    if (!this.wants(method)) return undefined;
    const line = encodeNotification(method, params);
    return Buffer.from(`${line.slice(0, -1)},"emittedAtMs":${Date.now()}}\n`);
  }

  close(): void {}
}

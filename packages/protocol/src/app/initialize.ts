import type * as z from 'zod/mini';
import { describe, flag, list, text } from '../fields.js';
import { defaulted, nullable, struct } from '../struct.js';

export const ClientInfo = struct('ClientInfo', {
  name: text('Name of the client; must fit into an HTTP header.'),
  title: nullable(text('The same for people.')),
  version: text('Version of the client.'),
});
export type ClientInfo = z.output<typeof ClientInfo>;

export const InitializeCapabilities = struct('InitializeCapabilities', {
  experimentalApi: defaulted(flag('Methods and members that may still change are wanted. Default: false.')),
  optOutNotificationMethods: nullable(list(text(), 'Notifications that are not to be sent, by exact name.')),
});
export type InitializeCapabilities = z.output<typeof InitializeCapabilities>;

export const InitializeParams = struct('InitializeParams', {
  clientInfo: describe(ClientInfo, 'Who is asking.'),
  capabilities: nullable(describe(InitializeCapabilities, 'What the client wants.')),
});
export type InitializeParams = z.output<typeof InitializeParams>;

export const InitializeResult = struct('InitializeResponse', {
  userAgent: text('Names server, system and client.'),
  codexHome: text("Absolute path of the directory with the user's configuration."),
  platformFamily: text('`unix` or `windows`.'),
  platformOs: text('`linux`, `macos` and the like.'),
});
export type InitializeResult = z.output<typeof InitializeResult>;

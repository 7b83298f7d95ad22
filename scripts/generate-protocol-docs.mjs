// Writes docs/protocol.schema.json and docs/protocol.md from the schemas of the built protocol package.
// With --check it writes nothing and fails when a file is not what it would write.
import { readFile, writeFile } from 'node:fs/promises';
import * as z from 'zod/mini';
import * as protocol from '../packages/protocol/dist/index.js';
import { APP_PURPOSES, ERROR_MEANINGS, PURPOSES, V0_PURPOSES } from '../packages/protocol/dist/purposes.js';

const {
  METHODS,
  CLIENT_NOTIFICATIONS,
  SERVER_NOTIFICATIONS,
  SERVER_REQUESTS,
  ErrorCode,
  ERROR_REASONS,
  v0,
  app,
} = protocol;

const names = new Map();
const registry = z.registry();
for (const [name, value] of Object.entries(protocol)) {
  if (value?._zod === undefined) continue;
  names.set(value, name);
  registry.add(value, { id: name });
}
const definitions = buildDefinitions();
const methodTypes = new Set();

const schemaText = `${JSON.stringify(buildSchema(), null, 2)}\n`;
const pageText = buildPage();
const outputs = { 'docs/protocol.schema.json': schemaText, 'docs/protocol.md': pageText };

let stale = 0;
for (const [path, text] of Object.entries(outputs)) {
  const file = new URL(`../${path}`, import.meta.url);
  if (!process.argv.includes('--check')) {
    await writeFile(file, text);
  } else if ((await readFile(file, 'utf8').catch(() => undefined)) !== text) {
    console.error(`${path} is stale: run \`npm run docs\` and commit the result`);
    stale++;
  }
}
process.exitCode = stale === 0 ? 0 : 1;

function buildDefinitions() {
  const { schemas } = z.toJSONSchema(registry, { io: 'input', uri: (id) => `#/$defs/${id}` });
  const sorted = Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(
    sorted.map(([name, { $schema: _schema, $id: _id, ...definition }]) => [name, definition]),
  );
}

function buildSchema() {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'The exec-server protocol',
    description: 'Parameters and results by message. Generated; see docs/protocol.md.',
    requests: mapValues(METHODS, describeRequest),
    clientNotifications: mapValues(CLIENT_NOTIFICATIONS, ({ params }) => ({ params: schemaOf(params) })),
    serverNotifications: mapValues(SERVER_NOTIFICATIONS, ({ params }) => ({ params: schemaOf(params) })),
    serverRequests: mapValues(SERVER_REQUESTS, ({ params, result }) => ({
      params: schemaOf(params),
      result: schemaOf(result),
    })),
    v0: {
      requests: mapValues(v0.METHODS, describeRequest),
      serverNotifications: mapValues(v0.SERVER_NOTIFICATIONS, ({ params }) => ({ params: schemaOf(params) })),
    },
    app: {
      requests: mapValues(app.METHODS, describeRequest),
      serverNotifications: mapValues(app.SERVER_NOTIFICATIONS, ({ params }) => ({
        params: schemaOf(params),
      })),
    },
    $defs: definitions,
  };
}

function describeRequest({ family, lane, experimental, params, result }) {
  return { family, lane, experimental, params: schemaOf(params), result: schemaOf(result) };
}

function mapValues(object, transform) {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, transform(value)]));
}

/** A reference to a named schema, or an unnamed schema itself. */
function schemaOf(schema) {
  const name = names.get(schema);
  if (name !== undefined) {
    methodTypes.add(name);
    return { $ref: `#/$defs/${name}` };
  }
  const { $schema: _schema, ...inline } = z.toJSONSchema(schema, { io: 'input' });
  return inline;
}

function buildPage() {
  const sections = [
    introduction(),
    '## Requests from client to server',
    ...requestSections(METHODS, PURPOSES),
    '## Notifications from client to server',
    ...notificationSections(CLIENT_NOTIFICATIONS, PURPOSES),
    '## Notifications from server to client',
    ...notificationSections(SERVER_NOTIFICATIONS, PURPOSES),
    '## Requests from server to client',
    ...requestSections(SERVER_REQUESTS, PURPOSES),
    '## The oldest generation',
    'Methods and notifications of `exec-server.v0`. They work on the same connections, beside those above; paths are native.',
    ...requestSections(v0.METHODS, V0_PURPOSES),
    ...notificationSections(v0.SERVER_NOTIFICATIONS, V0_PURPOSES),
    "## The app-server's dialect",
    'Spoken by a client whose `initialize` has `clientInfo`. Paths are native. ' +
      'Notifications have the time, in milliseconds since 1970, as `emittedAtMs` beside `params`. A request that cannot be ' +
      'decoded, and an unknown one, is `-32600`. Methods that may still change are refused unless `initialize` asked ' +
      'for `experimentalApi`.',
    ...requestSections(app.METHODS, APP_PURPOSES),
    ...notificationSections(app.SERVER_NOTIFICATIONS, APP_PURPOSES),
    '## Types',
    ...Object.keys(definitions)
      .filter((name) => !methodTypes.has(name) || isReferenced(name))
      .map(typeSection),
    errorSection(),
  ];
  return `${sections.join('\n\n')}\n`;
}

function introduction() {
  return `# Protocol

<!-- Generated by scripts/generate-protocol-docs.mjs. Edit the schemas in packages/protocol instead. -->

Messages are JSON objects without a \`jsonrpc\` member: one per WebSocket message, or one per line. Which members are
there says what a message is:

| Members | Message |
| --- | --- |
| \`id\`, \`method\`, \`params\`, \`trace\`? | request |
| \`method\`, \`params\` | notification |
| \`id\`, \`result\` | response |
| \`id\`, \`error\` | error response |

An \`id\` is a string or a signed 64-bit integer and comes back with the same type. Unknown members are ignored
everywhere. An optional member may be \`null\` where the tables say so, which means the same as leaving it out. Params may
also be an array of the members in the order of the table. Paths are \`file:\` URIs, bytes are standard base64 with padding.

A message holds at most ${protocol.MAX_MESSAGE_BYTES / 2 ** 20} MiB, ${protocol.MAX_JSON_VALUES} JSON values and ${protocol.MAX_JSON_DEPTH} levels of nesting; a WebSocket
frame at most ${protocol.MAX_FRAME_BYTES / 2 ** 20} MiB. Keys must be unique. A message that breaks a rule other than a size is answered with an error of id -1,
and the connection goes on.

A client first sends \`initialize\`, waits for the answer, and sends \`initialized\`. Requests of the control lane do not
wait for those of the ordinary lane.

The same as JSON Schema: [protocol.schema.json](protocol.schema.json).`;
}

function requestSections(methods, purposes) {
  return Object.entries(methods).map(([name, { lane, experimental, params, result }]) =>
    [
      `### \`${name}\``,
      [purposes[name], lane && `Lane: ${lane}.`, experimental && 'May still change.']
        .filter(Boolean)
        .join(' '),
      `Params${tableOf(schemaOf(params))}`,
      `Result${tableOf(schemaOf(result))}`,
    ].join('\n\n'),
  );
}

function notificationSections(notifications, purposes) {
  return Object.entries(notifications).map(([name, { params }]) =>
    [`### \`${name}\``, purposes[name], `Params${tableOf(schemaOf(params))}`].join('\n\n'),
  );
}

function typeSection(name) {
  const definition = definitions[name];
  if (definition.oneOf === undefined) return `### ${name}\n\nMembers${tableOf(definition)}`;
  const variants = definition.oneOf.map((variant) => `One form${tableOf(variant)}`);
  return [`### ${name}`, ...variants].join('\n\n');
}

function isReferenced(name) {
  const reference = `"$ref":"#/$defs/${name}"`;
  return Object.values(definitions).some((definition) => JSON.stringify(definition).includes(reference));
}

/** The rest of a line and, when there is something to list, a table. */
function tableOf(schema) {
  const definition = resolve(schema);
  if (definition.type === 'null') return ': none.';
  if (definition.properties === undefined) return ': anything.';
  const members = Object.entries(definition.properties);
  if (members.length === 0) return ': an empty object.';
  const required = new Set(definition.required);
  const rows = members.map(([name, member]) => {
    const isRequired = required.has(name) ? 'yes' : 'no';
    return `| \`${name}\` | ${typeOf(member)} | ${isRequired} | ${escapeCell(meaningOf(member))} |`;
  });
  return [':', '', '| Name | Type | Required | Meaning |', '| --- | --- | --- | --- |', ...rows].join('\n');
}

function resolve(schema) {
  return schema.$ref === undefined ? schema : definitions[schema.$ref.split('/').at(-1)];
}

function meaningOf(schema) {
  return schema.description ?? schema.anyOf?.map(meaningOf).find(Boolean) ?? '';
}

function typeOf(schema) {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.split('/').at(-1);
    return `[${name}](#${name.toLowerCase()})`;
  }
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return choices.map(typeOf).join(' \\| ');
  if (Array.isArray(schema.type)) return schema.type.join(' \\| ');
  if (schema.const !== undefined) return `\`"${schema.const}"\``;
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`"${value}"\``).join(' \\| ');
  if (schema.type === 'array') return `array of ${typeOf(schema.items)}`;
  if (schema.properties !== undefined) {
    const members = Object.entries(schema.properties).map(([name, member]) => `${name}: ${typeOf(member)}`);
    return `object { ${members.join(', ')} }`;
  }
  if (schema.type === 'object') return `map of ${typeOf(schema.additionalProperties)}`;
  if (schema.contentEncoding === 'base64') return 'base64';
  if (schema.format === 'uri') return 'file URI';
  if (schema.format === 'uuid') return 'UUID';
  if (schema.type !== 'integer') return schema.type ?? 'any';
  return schema.maximum === undefined ? 'integer' : `integer, ${schema.minimum}…${schema.maximum}`;
}

function escapeCell(text) {
  return text.replaceAll('|', '\\|');
}

function errorSection() {
  const rows = Object.entries(ErrorCode).map(
    ([name, code]) => `| ${code} | \`${name}\` | ${ERROR_MEANINGS[name]} |`,
  );
  const reasons = Object.entries(ERROR_REASONS).map(([name, meaning]) => `| \`${name}\` | ${meaning} |`);
  return [
    '## Error codes',
    '',
    '| Code | Name | Meaning |',
    '| --- | --- | --- |',
    ...rows,
    '',
    '## Names of failures',
    '',
    'Every error carries `data.code`, which names the failure for programs. `data.errno` names a failed system call, such as `ENOENT`. A name keeps its meaning; a client treats a name that it does not know by the numeric code.',
    '',
    '| `data.code` | Meaning |',
    '| --- | --- |',
    ...reasons,
  ].join('\n');
}

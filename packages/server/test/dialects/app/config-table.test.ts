import type { ServerConfiguration } from '@exec-server/server';
import { describe, expect, it } from 'vitest';
import { openAppClient } from '../../support/app-client.js';
import { openServer } from '../../support/session.js';

const CONFIGURATION: ServerConfiguration = [
  {
    source: { kind: 'defaults', file: '/d' },
    settings: { maxProcesses: 10, logLevel: 'warn', wsAuth: null },
  },
  { source: { kind: 'file', file: '/c.toml' }, settings: { maxProcesses: 20, logLevel: 'debug' } },
  { source: { kind: 'flags' }, settings: { maxProcesses: 30 } },
];

const VERSION = /^sha256:[0-9a-f]{64}$/;
/** The digest of `{}`, which is what a source without settings has. */
const EMPTY_VERSION = 'sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a';

async function read(params: unknown, configuration: ServerConfiguration = CONFIGURATION) {
  const wire = await openAppClient(openServer({ configuration }));
  return wire.request('config/read', params);
}

describe('config/read', () => {
  it('tells what holds, and where it came from', async () => {
    const { result } = await read({});
    const versioned = (name: object) => ({ name, version: expect.stringMatching(VERSION) });
    expect(result).toEqual({
      config: { max_processes: 30, log_level: 'debug', ws_auth: null },
      origins: {
        max_processes: versioned({ type: 'sessionFlags' }),
        log_level: versioned({ type: 'user', file: '/c.toml', profile: null }),
      },
    });
  });

  it('tells what each source says when asked, the strongest first', async () => {
    const { result } = await read({ includeLayers: true, cwd: null });
    expect(result?.layers).toEqual([
      { name: { type: 'sessionFlags' }, version: expect.any(String), config: { max_processes: 30 } },
      {
        name: { type: 'user', file: '/c.toml', profile: null },
        version: expect.any(String),
        config: { max_processes: 20, log_level: 'debug' },
      },
      {
        name: { type: 'packagedDefaults', file: '/d' },
        version: expect.any(String),
        config: { max_processes: 10, log_level: 'warn', ws_auth: null },
      },
    ]);
  });

  it('gives the same settings the same version, in whatever order', async () => {
    const versionsOf = async (settings: Record<string, unknown>) => {
      const { result } = await read({ includeLayers: true }, [{ source: { kind: 'flags' }, settings }]);
      const layers = (result?.layers ?? []) as { version: string }[];
      return layers.map(({ version }) => version);
    };
    expect(await versionsOf({})).toEqual([EMPTY_VERSION]);
    expect(await versionsOf({ a: 1, b: 2 })).toEqual(await versionsOf({ b: 2, a: 1 }));
    expect(await versionsOf({ a: 1 })).not.toEqual(await versionsOf({ a: 2 }));
  });

  it.each([
    [undefined, 'missing field `params`'],
    [{ includeLayers: 'x' }, 'invalid type: string "x", expected a boolean'],
    [{ includeLayers: null }, 'invalid type: null, expected a boolean'],
    [{ cwd: 5 }, 'invalid type: integer `5`, expected a string'],
  ])('refuses %j', async (params, message) => {
    expect((await read(params)).error).toMatchObject({
      code: -32600,
      message: `Invalid request: ${message}`,
    });
  });
});

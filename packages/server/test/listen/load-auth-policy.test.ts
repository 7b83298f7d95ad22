import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AuthSettings, loadAuthPolicy } from '../../src/listen/load-auth-policy.js';

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'auth-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

function file(name: string, content: string | Buffer): string {
  const path = join(directory, name);
  writeFileSync(path, content);
  return path;
}

const DIGEST_OF_S3CRET = '1ec1c26b50d5d3c58d9583181af8076655fe00756bf7285940ba3670f99fcba0';

it('asks nothing of anybody when no setting is given', () => {
  expect(loadAuthPolicy({})).toBeUndefined();
});

it('reads a token once, without the white space around it', async () => {
  const tokenFile = file('token', ' s3cret\n');
  const policy = loadAuthPolicy({ mode: 'capability-token', tokenFile });
  writeFileSync(tokenFile, 'changed');
  expect(await policy?.authenticate('s3cret')).toMatchObject({ accepted: true });
  expect(await policy?.authenticate('changed')).toMatchObject({ accepted: false });
});

it.each([DIGEST_OF_S3CRET, DIGEST_OF_S3CRET.toUpperCase()])('takes the digest %s', async (tokenSha256) => {
  const policy = loadAuthPolicy({ mode: 'capability-token', tokenSha256 });
  expect(await policy?.authenticate('s3cret')).toMatchObject({ accepted: true });
});

it('checks signed tokens with the secret and every setting', async () => {
  const secret = 'y'.repeat(32);
  const policy = loadAuthPolicy({
    mode: 'signed-bearer-token',
    sharedSecretFile: file('secret', `\n${secret}\n`),
    issuer: 'i',
    audience: 'a',
    maxClockSkewSeconds: 3600,
  });
  const sign = (issuer: string) =>
    new SignJWT()
      .setProtectedHeader({ alg: 'HS256' })
      .setIssuer(issuer)
      .setAudience('a')
      .setSubject('ada')
      .setExpirationTime('-1 minute')
      .sign(Buffer.from(secret));
  expect(await policy?.authenticate(await sign('i'))).toMatchObject({
    accepted: true,
    principal: { kind: 'signed-token', subject: 'ada' },
  });
  expect(await policy?.authenticate(await sign('x'))).toMatchObject({ accepted: false });
});

describe('settings that do not belong together', () => {
  it.each<[AuthSettings, string]>([
    [
      { mode: 'capability-token' },
      '`--ws-token-file` or `--ws-token-sha256` is required when `--ws-auth capability-token` is set',
    ],
    [
      { mode: 'capability-token', tokenFile: '/x', tokenSha256: '00' },
      '`--ws-token-file` and `--ws-token-sha256` are mutually exclusive',
    ],
    [
      { mode: 'capability-token', tokenSha256: DIGEST_OF_S3CRET.slice(1) },
      '--ws-token-sha256 must be a 64-character hex SHA-256 digest',
    ],
    [
      { mode: 'capability-token', tokenSha256: `${DIGEST_OF_S3CRET}0` },
      '--ws-token-sha256 must be a 64-character hex SHA-256 digest',
    ],
    [
      { mode: 'signed-bearer-token' },
      '`--ws-shared-secret-file` is required when `--ws-auth signed-bearer-token` is set',
    ],
    [
      { mode: 'signed-bearer-token', sharedSecretFile: '/x', tokenFile: '/x' },
      '`--ws-token-file` and `--ws-token-sha256` require `--ws-auth capability-token`, not `signed-bearer-token`',
    ],
    [
      { mode: 'capability-token', tokenFile: '/x', issuer: 'a' },
      '`--ws-shared-secret-file`, `--ws-issuer`, `--ws-audience`, and `--ws-max-clock-skew-seconds` ' +
        'require `--ws-auth signed-bearer-token`',
    ],
    [
      { maxClockSkewSeconds: 0 },
      'websocket auth flags require `--ws-auth capability-token` or `--ws-auth signed-bearer-token`',
    ],
  ])('%j', (settings, message) => {
    expect(() => loadAuthPolicy(settings)).toThrow(
      expect.objectContaining({ code: 'invalid_options', message }),
    );
  });
});

describe('files that are no secrets', () => {
  const refusal = (message: string) => expect.objectContaining({ code: 'unusable_secret', message });

  it('a missing one', () => {
    expect(() => loadAuthPolicy({ mode: 'capability-token', tokenFile: '/nope' })).toThrow(
      refusal('failed to read websocket auth secret /nope: No such file or directory (os error 2)'),
    );
  });

  it('an empty one', () => {
    const empty = file('empty', ' \n');
    expect(() => loadAuthPolicy({ mode: 'capability-token', tokenFile: empty })).toThrow(
      refusal(`websocket auth secret ${empty} must not be empty`),
    );
    expect(() => loadAuthPolicy({ mode: 'signed-bearer-token', sharedSecretFile: empty })).toThrow(
      refusal(`websocket auth secret ${empty} must not be empty`),
    );
  });

  it('one that is not text', () => {
    const binary = file('binary', Buffer.from([0xff, 0xfe]));
    expect(() => loadAuthPolicy({ mode: 'capability-token', tokenFile: binary })).toThrow(
      refusal(`failed to read websocket auth secret ${binary}: stream did not contain valid UTF-8`),
    );
  });

  it.each([
    [31, false],
    [32, true],
    [33, true],
  ])('a shared secret of %d bytes is long enough: %s', (bytes, isEnough) => {
    const secret = file(`secret-${bytes}`, `${'z'.repeat(bytes)}\n`);
    const load = () => loadAuthPolicy({ mode: 'signed-bearer-token', sharedSecretFile: secret });
    if (isEnough) expect(load()).toBeDefined();
    else expect(load).toThrow(refusal(`signed websocket bearer secret ${secret} must be at least 32 bytes`));
  });
});

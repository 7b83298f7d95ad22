import { chmodSync, mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { listen, makeDirectory, runCommand } from '../command-support.js';
import { FakeIo } from '../support.js';

const directory = makeDirectory();
const CHANGED = new Date(2026, 0, 31, 9, 5);

beforeAll(() => {
  writeFileSync(join(directory, 'file'), 'twelve bytes');
  chmodSync(join(directory, 'file'), 0o640);
  utimesSync(join(directory, 'file'), CHANGED, CHANGED);
  writeFileSync(join(directory, '.hidden'), '');
  mkdirSync(join(directory, 'sub'), { mode: 0o755 });
  symlinkSync('nowhere', join(directory, 'link'));
});

it('lists names, one on each line', async () => {
  expect(await runCommand(['ls', directory])).toEqual({ code: 0, stdout: 'file\nlink\nsub\n', stderr: '' });
});

it('-a lists hidden ones too', async () => {
  expect((await runCommand(['ls', '-a', directory])).stdout).toBe('.hidden\nfile\nlink\nsub\n');
});

it('-l makes a table', async () => {
  const { stdout } = await runCommand(['ls', '-l', directory, '--connect', await listen()]);
  const [header, file, link, sub] = stdout.split('\n');
  expect(header).toMatch(/^MODE +SIZE +MODIFIED +NAME$/);
  expect(file).toMatch(/^-rw-r----- +12 {2}2026-01-31 09:05 {2}file$/);
  expect(link).toMatch(/^lrwxrwxrwx +7 {2}\S+ \S+ {2}link -> nowhere$/);
  expect(sub).toMatch(/^drwxr-xr-x +\d+ {2}\S+ \S+ {2}sub$/);
});

it('--json tells the same to programs', async () => {
  const { stdout } = await runCommand(['ls', '--json', directory]);
  expect(JSON.parse(stdout)).toEqual(
    ['file', 'link', 'sub'].map((name) => ({
      name,
      path: join(directory, name),
      type: { file: 'file', link: 'symlink', sub: 'directory' }[name],
    })),
  );
  const long = JSON.parse((await runCommand(['ls', '-l', '--json', directory])).stdout);
  expect(long[0]).toEqual({
    name: 'file',
    path: join(directory, 'file'),
    type: 'file',
    size: 12,
    mode: '0640',
    modifiedAt: CHANGED.toISOString(),
    target: null,
  });
  expect(long[1]).toMatchObject({ name: 'link', type: 'symlink', target: 'nowhere' });
});

it('several directories get their names above, and one that is missing keeps none from its turn', async () => {
  const missing = join(directory, 'missing');
  const { code, stdout, stderr } = await runCommand(['ls', join(directory, 'file'), missing, directory]);
  expect(code).toBe(1);
  expect(stdout).toBe(`${directory}/file:\nfile\n\n${directory}:\nfile\nlink\nsub\n`);
  expect(stderr).toMatch(/^Error: ENOENT: .*\/missing'\n$/);
});

it('a link that leads nowhere can be listed', async () => {
  expect((await runCommand(['ls', join(directory, 'link')])).stdout).toBe('link\n');
});

it('tells of the targets of links where the server does not know links', async () => {
  symlinkSync('file', join(directory, 'sub', 'link'));
  const url = await listen({ disabledCapabilities: ['fsLinks', 'fsListBroken'] });
  const { code, stdout } = await runCommand(['ls', '-l', '--json', '--connect', url, directory]);
  expect(code).toBe(0);
  expect(JSON.parse(stdout).map(({ name }: { name: string }) => name)).toEqual(['file', 'sub']);
});

it('without a path it is the directory of the server, and relative ones begin there', async () => {
  const here = await runCommand(['ls']);
  const listed = (await runCommand(['ls', process.cwd()])).stdout;
  expect(here).toEqual({ code: 0, stdout: listed, stderr: '' });
  expect((await runCommand(['ls', '.'])).stdout).toBe(listed);
});

describe('on a terminal', () => {
  function terminal(columns: number, env: Record<string, string> = {}): FakeIo {
    const io = Object.assign(new FakeIo(), { env });
    Object.assign(io.stdout, { isTTY: true, columns });
    return io;
  }

  it('names stand side by side, directories in bold', async () => {
    const { stdout } = await runCommand(['ls', directory], terminal(80));
    expect(stdout).toBe('file  \u001b[33mlink\u001b[39m  \u001b[1msub\u001b[22m\n');
  });

  it('without colours if NO_COLOR is set, and below each other if it is narrow', async () => {
    expect((await runCommand(['ls', directory], terminal(9, { NO_COLOR: '1' }))).stdout).toBe(
      'file\nlink\nsub\n',
    );
  });

  it('a name gives no orders', async () => {
    const evil = join(directory, 'sub', 'evil');
    mkdirSync(evil);
    writeFileSync(join(evil, 'a\u001b[31mb'), '');
    expect((await runCommand(['ls', evil], terminal(80))).stdout).toBe('a\\x1b[31mb\n');
    expect((await runCommand(['ls', evil])).stdout).toBe('a\u001b[31mb\n');
  });
});

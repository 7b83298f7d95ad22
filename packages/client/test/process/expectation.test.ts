import { describe, expect, it } from 'vitest';
import { MAX_EXPECTED_CHARACTERS } from '../../src/process/expectation.js';
import { openMachine, sh } from '../support/machine.js';

describe('expect', () => {
  it('goes on where the last one ended, with what came before', async () => {
    const machine = await openMachine();
    await using handle = await machine.spawn(sh('printf "one two "; read -r word; echo "got $word."'), {
      stdin: 'pipe',
    });
    const first = await handle.expect('one');
    expect([first.before, first.match[0], first.match.index]).toEqual(['', 'one', 0]);
    const second = await handle.expect(/t(w)o/g);
    expect([second.before, ...second.match]).toEqual([' ', 'two', 'w']);
    await handle.stdin.write('it\n');
    const { match, before } = await handle.expect(/got (?<word>\w+)/);
    expect([match.groups?.word, before]).toEqual(['it', ' ']);
    await expect(handle.expect('one')).rejects.toMatchObject({ code: 'exit' });
  });

  it('finds what one piece of output ends and the next begins with', async () => {
    const machine = await openMachine();
    await using handle = await machine.spawn(
      sh("printf 'pass\\303'; sleep 0.1; printf '\\244word: '; sleep 60"),
    );
    expect((await handle.expect('ssäwo')).before).toBe('pa');
    expect((await handle.expect(/: $/)).before).toBe('rd');
  });

  it('begins behind a cursor if told so, as waitFor does', async () => {
    const machine = await openMachine();
    await using handle = await machine.spawn(sh('while read -r word; do echo "ready $word"; done'), {
      stdin: 'pipe',
    });
    await handle.stdin.write('1\n');
    await handle.waitFor({ line: 'ready' });
    const from = handle.cursor;
    await handle.stdin.write('2\n');
    expect(await handle.waitFor({ line: /^ready/, from })).toBe('ready 2');
    expect((await handle.expect(/ready (\d)/, { from })).match[1]).toBe('2');
    expect((await handle.expect(/ready (\d)/, { from: 0 })).match[1]).toBe('1');
    expect((await handle.expect(/ready (\d)/)).match[1]).toBe('2');
  });

  it('looks at one stream if told so, and gives up in time', async () => {
    const machine = await openMachine();
    await using handle = await machine.spawn(sh('echo here; echo there >&2; sleep 60'));
    expect((await handle.expect('here', { stream: 'stderr' })).before).toBe('t');
    const late = handle.expect('never', { timeoutMs: 1 });
    await expect(late).rejects.toMatchObject({
      code: 'wait_timeout',
      message: 'never did not show within 1 ms',
    });
    const controller = new AbortController();
    const aborted = handle.expect('never', { signal: controller.signal });
    controller.abort(new Error('enough'));
    await expect(aborted).rejects.toThrow('enough');
  });

  it.each([
    [-1, true],
    [0, true],
    [1, false],
  ])('finds what began so many characters before the end, and %i: %s', async (more, isFound) => {
    const machine = await openMachine();
    const filler = MAX_EXPECTED_CHARACTERS + more - 'begin'.length;
    await using handle = await machine.spawn(
      sh(`printf begin; head -c ${filler} /dev/zero | tr '\\0' x; read -r go; printf end`),
      { stdin: 'pipe' },
    );
    await handle.expect(/x$/);
    const waiting = handle.expect(/begin[^e]*end/, { from: 0 });
    await handle.waitFor({ quietMs: 200 });
    await handle.stdin.write('go\n');
    if (isFound) await expect(waiting).resolves.toMatchObject({ before: '' });
    else await expect(waiting).rejects.toMatchObject({ code: 'exit' });
  });
});

describe('sendKeys', () => {
  it('presses keys by their names', async () => {
    const machine = await openMachine();
    await using terminal = await machine.pty(sh('stty raw -echo; echo ready; exec od -An -tx1 -w1 -v'));
    await terminal.expect('ready');
    await terminal.sendKeys(['a', 'C-c', 'Enter', 'Up', 'M-x', 'C-?']);
    const seen: string[] = [];
    while (seen.length < 9) seen.push((await terminal.expect(/ ([0-9a-f]{2})\s/)).match[1] ?? '');
    expect(seen).toEqual(['61', '03', '0d', '1b', '5b', '41', '1b', '78', '7f']);
  });

  it.each(['Entr', 'C-', 'C-é', 'M-', 'ab'])('refuses %s', async (key) => {
    const machine = await openMachine();
    await using terminal = await machine.pty(['sleep', '60']);
    expect(() => terminal.sendKeys([key])).toThrow(expect.objectContaining({ code: 'usage' }));
  });
});

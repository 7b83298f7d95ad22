import { connect } from '@exec-server/client';

await using machine = await connect(process.argv[2] ?? 'ws://127.0.0.1:7711');

await using terminal = await machine.pty(['sh'], { cols: 100, rows: 30, env: { PS1: '$ ', ENV: '' } });
await terminal.write('stty size\n');
await terminal.waitFor({ line: '30 100', timeoutMs: 10_000 });

await terminal.resize({ cols: 200, rows: 50 });
await terminal.write('stty size\n');
await terminal.waitFor({ line: '50 200', timeoutMs: 10_000 });

const screen = await terminal.snapshot(); // the present screen, safe to paint
console.log(screen.cols, screen.rows, screen.lines.join('\n').includes('50 200'));

await terminal.write('exit 7\n');
console.log(await terminal.wait());

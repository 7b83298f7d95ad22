import { createServer } from 'node:http';
import { connect, FileSystemError } from '@exec-server/client';

await using machine = await connect(process.argv[2] ?? 'ws://127.0.0.1:7711');
const directory = (await machine.run(['mktemp', '-d'], { check: true })).stdout.trimmed();

await machine.fs.writeFile(`${directory}/notes.txt`, 'one line\n', { atomic: true });
console.log(await machine.fs.readFile(`${directory}/notes.txt`, 'utf8'));

await machine.fs.readFile(`${directory}/nothing`).catch((error: unknown) => {
  if (error instanceof FileSystemError) console.log(error.errno);
});

// Streams both ways; trees go in and out with their modes and links.
let bytes = 0;
for await (const chunk of await machine.fs.createReadStream('/bin/sh')) bytes += chunk.length;
console.log(bytes === (await machine.fs.stat('/bin/sh')).size);
const { files } = await machine.fs.copyOut(directory, `${directory}-copy`);
console.log(files);

const watch = machine.fs.watch(directory);
await watch.armed;
await machine.fs.writeFile(`${directory}/new.txt`, '');
for await (const change of watch) {
  console.log(change.type, change.path === `${directory}/new.txt`);
  break;
}

// HTTP as seen from there.
const web = createServer((_request, response) => response.end('healthy')).listen(0, '127.0.0.1');
await new Promise((resolve) => web.once('listening', resolve));
const { port } = web.address() as { port: number };
const health = await machine.fetch(`http://127.0.0.1:${port}/health`);
console.log(health.status, await health.text());
web.close();

await machine.fs.rm(directory, { recursive: true });
await machine.fs.rm(`${directory}-copy`, { recursive: true });

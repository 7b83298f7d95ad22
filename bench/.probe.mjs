import { randomBytes } from 'node:crypto';
import { OutputFrameEncoder } from '@exec-server/protocol';
import { OutputEncoder } from '@exec-server/rpc/node';
const d = randomBytes(65536);
const which = process.argv[2];
const e = which === 'lines' ? new OutputEncoder('process/output', 'bench-1') : which==='frames' ? new OutputFrameEncoder('bench-1') : {encode(seq,s,data){const f=Buffer.allocUnsafe(23+data.length); f.set(data,23); return f;}};
for (let k=0;k<5;k++) { const c=process.cpuUsage(); const s = performance.now(); for (let i = 1; i <= 8000; i++) e.encode(i, 'stdout', d);
  const u=process.cpuUsage(c); console.log(which, ((performance.now() - s) / 8).toFixed(2), 'us wall', 'user',(u.user/8000).toFixed(1),'sys',(u.system/8000).toFixed(1), Math.round(process.memoryUsage.rss()/1e6)); }

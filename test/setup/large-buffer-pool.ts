/** As much memory, in bytes, as the newest versions of Node share among small buffers. */
const POOL_BYTES = 64 * 1024;

Buffer.poolSize = Math.max(Buffer.poolSize, POOL_BYTES);

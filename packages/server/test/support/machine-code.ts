const HEADER_BYTES = 120;
const ADDRESS = 0x10000;

/** A program of nothing but machine code for x86-64. */
export function machineProgram(code: string): Buffer {
  const body = Buffer.from(code.replaceAll(/\s/g, ''), 'hex');
  const file = Buffer.alloc(HEADER_BYTES + body.length);
  Buffer.from('7f454c46020101', 'hex').copy(file);
  file.writeUInt16LE(2, 16);
  file.writeUInt16LE(62, 18);
  file.writeUInt32LE(1, 20);
  file.writeBigUInt64LE(BigInt(ADDRESS + HEADER_BYTES), 24);
  file.writeBigUInt64LE(64n, 32);
  file.writeUInt16LE(64, 52);
  file.writeUInt16LE(56, 54);
  file.writeUInt16LE(1, 56);
  file.writeUInt32LE(1, 64);
  file.writeUInt32LE(5, 68);
  file.writeBigUInt64LE(BigInt(ADDRESS), 80);
  file.writeBigUInt64LE(BigInt(ADDRESS), 88);
  file.writeBigUInt64LE(BigInt(file.length), 96);
  file.writeBigUInt64LE(BigInt(file.length), 104);
  file.writeBigUInt64LE(0x1000n, 112);
  body.copy(file, HEADER_BYTES);
  return file;
}

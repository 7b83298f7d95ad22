import type { Architecture } from './architecture.js';
import { LAST_RESULT, planHandover, type SocketHandover, words } from './entry-calls.js';

/*
 * The last step into a sandbox has to be made by somebody inside of it: hand over sockets of its network, become the
 * leader of a session, take the terminal, change to the directory, let go of what bubblewrap was told by descriptors, and
 * become the program, or say why that fails. Nothing that a sandbox is sure to contain can do that, so that this is a program of its own: an ELF
 * file of one segment, in memory, with the program's path, arguments and environment in it.
 */

/** What the entry program says first, before anything can fail. */
export const ENTERED = 0;

export interface EntryRequest {
  /** Path inside of the sandbox of the file to execute. */
  readonly program: string;
  readonly argv: readonly string[];
  readonly env: ReadonlyMap<string, string>;
  readonly cwd: Uint8Array;
  /** Whether descriptor 0 is to be the controlling terminal. */
  readonly takesTerminal: boolean;
  /** Where it says {@link ENTERED}, and then one byte, an error number, if the program cannot be executed. */
  readonly statusFd: number;
  /** Descriptors from this number on do not reach the program. */
  readonly ownDescriptorsFrom: number;
  /** Sockets that the server outside is to get. @default none */
  readonly handover?: SocketHandover | undefined;
}

const LOAD_ADDRESS = 0x400000;
/** Where the parameters lie, from which the code takes everything. */
const PARAMETERS_OFFSET = 0x100;
const PARAMETERS_BYTES = 72;
const CODE_OFFSET = PARAMETERS_OFFSET + PARAMETERS_BYTES;

/**
 * Parameters, by their place: path, directory, argv, environment, status descriptor, first own one, terminal, ENTERED,
 * calls. A call is four words, its number and arguments; a number below 0 ends them.
 */
const X64_CODE = `
  bb00014000      mov ebx, 0x400100       ; the parameters
  b801000000      mov eax, 1              ; write(status, ENTERED, 1)
  8b7b20          mov edi, [rbx+32]
  488d7338        lea rsi, [rbx+56]
  ba01000000      mov edx, 1
  0f05            syscall
  4c8b6340        mov r12, [rbx+64]       ; the calls
  498b0424        next: mov rax, [r12]
  4885c0          test rax, rax
  782a            js setsid
  498b7c2408      mov rdi, [r12+8]
  4883ffff        cmp rdi, LAST_RESULT
  7503            jne call
  4c89ef          mov rdi, r13
  498b742410      call: mov rsi, [r12+16]
  498b542418      mov rdx, [r12+24]
  0f05            syscall
  4989c5          mov r13, rax
  4983c420        add r12, 32
  85c0            test eax, eax
  79d2            jns next
  e95a000000      jmp failed
  b870000000      setsid: mov eax, 112    ; setsid()
  0f05            syscall
  837b3000        cmp dword [rbx+48], 0
  7414            je chdir
  b810000000      mov eax, 16             ; ioctl(0, TIOCSCTTY, 0)
  31ff            xor edi, edi
  be0e540000      mov esi, 0x540e
  31d2            xor edx, edx
  0f05            syscall
  85c0            test eax, eax
  7839            js failed
  b850000000      chdir: mov eax, 80      ; chdir(directory)
  488b7b08        mov rdi, [rbx+8]
  0f05            syscall
  85c0            test eax, eax
  782a            js failed
  b8b4010000      mov eax, 436            ; close_range(first own, max, CLOSE_RANGE_CLOEXEC)
  8b7b28          mov edi, [rbx+40]
  beffffffff      mov esi, -1
  ba04000000      mov edx, 4
  0f05            syscall
  85c0            test eax, eax
  7812            js failed
  b83b000000      mov eax, 59             ; execve(path, argv, environment)
  488b3b          mov rdi, [rbx]
  488b7310        mov rsi, [rbx+16]
  488b5318        mov rdx, [rbx+24]
  0f05            syscall
  f7d8            failed: neg eax
  50              push rax
  b801000000      mov eax, 1              ; write(status, error number, 1)
  8b7b20          mov edi, [rbx+32]
  4889e6          mov rsi, rsp
  ba01000000      mov edx, 1
  0f05            syscall
  b8e7000000      mov eax, 231            ; exit_group(127)
  bf7f000000      mov edi, 127
  0f05            syscall`;

const ARM64_CODE = `
  132080d2        mov x19, #0x100         ; the parameters
  1308a0f2        movk x19, #0x40, lsl 16
  080880d2        mov x8, #64             ; write(status, ENTERED, 1)
  602240b9        ldr w0, [x19, #32]
  61e20091        add x1, x19, #56
  220080d2        mov x2, #1
  010000d4        svc #0
  742240f9        ldr x20, [x19, #64]     ; the calls
  880240f9        next: ldr x8, [x20]
  4801f8b7        tbnz x8, #63, setsid
  800640f9        ldr x0, [x20, #8]
  1f0400b1        cmn x0, #1              ; LAST_RESULT
  a002809a        csel x0, x21, x0, eq
  810a41a9        ldp x1, x2, [x20, #16]
  010000d4        svc #0
  f50300aa        mov x21, x0
  94820091        add x20, x20, #32
  e0feffb6        tbz x0, #63, next
  1a000014        b failed
  a81380d2        setsid: mov x8, #157    ; setsid()
  010000d4        svc #0
  693240b9        ldr w9, [x19, #48]
  e9000034        cbz w9, chdir
  a80380d2        mov x8, #29             ; ioctl(0, TIOCSCTTY, 0)
  000080d2        mov x0, #0
  c1818ad2        mov x1, #0x540e
  020080d2        mov x2, #0
  010000d4        svc #0
  0002f8b7        tbnz x0, #63, failed
  280680d2        chdir: mov x8, #49      ; chdir(directory)
  600640f9        ldr x0, [x19, #8]
  010000d4        svc #0
  8001f8b7        tbnz x0, #63, failed
  883680d2        mov x8, #436            ; close_range(first own, max, CLOSE_RANGE_CLOEXEC)
  602a40b9        ldr w0, [x19, #40]
  01008012        mov w1, #-1
  820080d2        mov x2, #4
  010000d4        svc #0
  c000f8b7        tbnz x0, #63, failed
  a81b80d2        mov x8, #221            ; execve(path, argv, environment)
  600240f9        ldr x0, [x19]
  610a40f9        ldr x1, [x19, #16]
  620e40f9        ldr x2, [x19, #24]
  010000d4        svc #0
  e003004b        failed: neg w0, w0
  e00f1ff8        str x0, [sp, #-16]!
  080880d2        mov x8, #64             ; write(status, error number, 1)
  602240b9        ldr w0, [x19, #32]
  e1030091        mov x1, sp
  220080d2        mov x2, #1
  010000d4        svc #0
  c80b80d2        mov x8, #94             ; exit_group(127)
  e00f80d2        mov x0, #127
  010000d4        svc #0`;

/** The machine code of each processor, and the number that ELF has for it. */
const PROCESSORS: Readonly<Record<Architecture, { readonly machine: number; readonly code: Buffer }>> = {
  x64: { machine: 62, code: assemble(X64_CODE) },
  arm64: { machine: 183, code: assemble(ARM64_CODE) },
};

/** The first word of each line, as bytes; the rest says what it is. */
function assemble(listing: string): Buffer {
  const words = Array.from(listing.matchAll(/^ *([0-9a-f]+)/gm), ([, word = '']) => word);
  return Buffer.from(words.join(''), 'hex');
}

/** In the place of a call's number. */
const END_OF_CALLS = LAST_RESULT;

/** Makes the file that enters a sandbox and becomes the given program. */
export function buildEntryProgram(architecture: Architecture, request: EntryRequest): Buffer {
  const { machine, code } = PROCESSORS[architecture];
  const data = new DataSection(LOAD_ADDRESS + CODE_OFFSET + code.length);
  const variables = Array.from(request.env, ([name, value]) => `${name}=${value}`);
  const calls = request.handover
    ? planHandover(architecture, request.handover, (bytes) => data.addBytes(bytes))
    : [];
  const parameters = [
    data.addString(Buffer.from(request.program)),
    data.addString(request.cwd),
    data.addPointers(request.argv.map((text) => data.addString(Buffer.from(text)))),
    data.addPointers(variables.map((text) => data.addString(Buffer.from(text)))),
    request.statusFd,
    request.ownDescriptorsFrom,
    request.takesTerminal ? 1 : 0,
    ENTERED,
    data.addBytes(words([...calls.flat(), END_OF_CALLS])),
  ];
  const body = Buffer.concat([words(parameters), code, data.bytes]);
  const file = Buffer.alloc(PARAMETERS_OFFSET + body.length);
  writeHeaders(file, machine);
  body.copy(file, PARAMETERS_OFFSET);
  return file;
}

/** Strings and lists of pointers to them, with the addresses that they will have. */
class DataSection {
  readonly #parts: Buffer[] = [];
  #end: number;

  constructor(start: number) {
    this.#end = start;
  }

  get bytes(): Buffer {
    return Buffer.concat(this.#parts);
  }

  addString(text: Uint8Array): number {
    return this.addBytes(Buffer.concat([text, Buffer.of(0)]));
  }

  addPointers(addresses: readonly number[]): number {
    return this.addBytes(words([...addresses, 0]));
  }

  addBytes(bytes: Buffer): number {
    const address = this.#end;
    this.#parts.push(bytes);
    this.#end += bytes.length;
    return address;
  }
}

const ELF_HEADER_BYTES = 64;
const PROGRAM_HEADER_BYTES = 56;
const PT_LOAD = 1;
const PT_GNU_STACK = 0x6474e551;
const READ_EXECUTE = 5;
const READ_WRITE = 6;
/** The largest page of either processor. */
const ALIGNMENT = 0x10000;

function writeHeaders(file: Buffer, machine: number): void {
  // 64 bits, little endian, version 1.
  Buffer.from('7f454c46020101', 'hex').copy(file);
  file.writeUInt16LE(2, 16); // ET_EXEC
  file.writeUInt16LE(machine, 18);
  file.writeUInt32LE(1, 20); // version
  file.writeBigUInt64LE(BigInt(LOAD_ADDRESS + CODE_OFFSET), 24); // entry
  file.writeBigUInt64LE(BigInt(ELF_HEADER_BYTES), 32); // program headers
  file.writeUInt16LE(ELF_HEADER_BYTES, 52);
  file.writeUInt16LE(PROGRAM_HEADER_BYTES, 54);
  file.writeUInt16LE(2, 56); // of which there are two
  writeSegment(file, 0, { type: PT_LOAD, flags: READ_EXECUTE, address: LOAD_ADDRESS, bytes: file.length });
  writeSegment(file, 1, { type: PT_GNU_STACK, flags: READ_WRITE, address: 0, bytes: 0 });
}

function writeSegment(
  file: Buffer,
  index: number,
  segment: {
    readonly type: number;
    readonly flags: number;
    readonly address: number;
    readonly bytes: number;
  },
): void {
  const at = ELF_HEADER_BYTES + index * PROGRAM_HEADER_BYTES;
  file.writeUInt32LE(segment.type, at);
  file.writeUInt32LE(segment.flags, at + 4);
  file.writeBigUInt64LE(0n, at + 8); // from the beginning of the file
  file.writeBigUInt64LE(BigInt(segment.address), at + 16);
  file.writeBigUInt64LE(BigInt(segment.address), at + 24);
  file.writeBigUInt64LE(BigInt(segment.bytes), at + 32);
  file.writeBigUInt64LE(BigInt(segment.bytes), at + 40);
  file.writeBigUInt64LE(BigInt(ALIGNMENT), at + 48);
}

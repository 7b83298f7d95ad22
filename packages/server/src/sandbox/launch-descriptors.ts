import type { LaunchPlan } from '../native/launch.js';
import { createMemoryFile, type MemoryFile } from '../native/memory-file.js';
import { openReportPipe, type ReportPipe } from '../native/report-pipe.js';
import type { Doorway } from './backend.js';
import type { EntryRequest } from './program/enter.js';

/** The descriptors that whoever makes a sandbox gets, numbered from behind those of the program. */
export class LaunchDescriptors {
  /** The first that is not the program's. */
  readonly first: number;
  readonly added: { readonly fd: number; readonly as: number }[] = [];
  readonly #files: MemoryFile[] = [];
  #status: ReportPipe | undefined;

  constructor(taken: LaunchPlan['extraDescriptors']) {
    this.first = Math.max(2, ...taken.map(({ as }) => as)) + 1;
  }

  /** Gives a descriptor of this process the next number. It must stay open until the launch. */
  add(fd: number): number {
    const as = this.first + this.added.length;
    this.added.push({ fd, as });
    return as;
  }

  openStatus(): { readonly pipe: ReportPipe; readonly as: number } {
    this.#status = openReportPipe();
    return { pipe: this.#status, as: this.add(this.#status.fd) };
  }

  addFile(contents: Buffer): number {
    return this.add(this.makeFile(contents).fd);
  }

  /** A file that has no number yet. */
  makeFile(contents: Buffer): MemoryFile {
    const file = createMemoryFile(contents);
    this.#files.push(file);
    return file;
  }

  addDoorway({ sockets, door }: Doorway): EntryRequest['handover'] {
    return { sockets, doorFd: this.add(door.fd) };
  }

  /** Lets go of what the launch alone needs. */
  closeFiles(): void {
    for (const file of this.#files.splice(0)) file.close();
  }

  closeAll(): void {
    this.closeFiles();
    this.#status?.close();
  }
}

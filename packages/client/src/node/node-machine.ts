import { Machine } from '../machine.js';
import { createNodeFileSystem, type NodeFileSystem } from './node-file-system.js';

/** A machine as a program on Node sees it: files can be copied between it and this one. */
export class NodeMachine extends Machine {
  override readonly fs: NodeFileSystem = createNodeFileSystem(this.fileClient);
}

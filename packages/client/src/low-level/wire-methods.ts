import type { MethodName, ParamsOf, ResultOf } from '@exec-server/protocol';
import type { SessionCallOptions } from '../session-client.js';

/**
 * One method for each call of the wire, with its params and its result as they are there. All reject with
 * `ExecServerError`, or with the reason of the signal.
 */
export abstract class WireMethods {
  /** Calls any method by its name. */
  abstract call<M extends MethodName>(
    method: M,
    params: ParamsOf<M>,
    options?: SessionCallOptions,
  ): Promise<ResultOf<M>>;

  /** Starts a process. True also over a lost connection: the server is asked whether it started before the call is sent again. */
  exec(params: ParamsOf<'process/start'>, options?: SessionCallOptions): Promise<ResultOf<'process/start'>> {
    return this.call('process/start', params, options);
  }

  /** Starts a command that is resolved already; see {@link exec}. */
  startPrepared(
    params: ParamsOf<'process/startPrepared'>,
    options?: SessionCallOptions,
  ): Promise<ResultOf<'process/startPrepared'>> {
    return this.call('process/startPrepared', params, options);
  }

  /** Reads the retained output of a process, and how it ended. */
  read(params: ParamsOf<'process/read'>, options?: SessionCallOptions): Promise<ResultOf<'process/read'>> {
    return this.call('process/read', params, options);
  }

  /** Writes to stdin. With a `writeId` it is carried out once, however often it is sent. */
  write(params: ParamsOf<'process/write'>, options?: SessionCallOptions): Promise<ResultOf<'process/write'>> {
    return this.call('process/write', params, options);
  }

  /** Ends stdin. */
  closeStdin(
    params: ParamsOf<'process/closeStdin'>,
    options?: SessionCallOptions,
  ): Promise<ResultOf<'process/closeStdin'>> {
    return this.call('process/closeStdin', params, options);
  }

  /** Sends a signal to the group of a process. */
  signal(
    params: ParamsOf<'process/signal'>,
    options?: SessionCallOptions,
  ): Promise<ResultOf<'process/signal'>> {
    return this.call('process/signal', params, options);
  }

  /** Ends a process with everything it started. */
  terminate(
    params: ParamsOf<'process/terminate'>,
    options?: SessionCallOptions,
  ): Promise<ResultOf<'process/terminate'>> {
    return this.call('process/terminate', params, options);
  }

  /** Changes the size of a terminal. */
  resize(
    params: ParamsOf<'process/resize'>,
    options?: SessionCallOptions,
  ): Promise<ResultOf<'process/resize'>> {
    return this.call('process/resize', params, options);
  }

  /** Makes a process wait for its reader, or lets it go on. */
  hold(params: ParamsOf<'process/hold'>, options?: SessionCallOptions): Promise<ResultOf<'process/hold'>> {
    return this.call('process/hold', params, options);
  }

  /** Has the session end with the connection. */
  endSession(
    params: ParamsOf<'session/end'> = {},
    options?: SessionCallOptions,
  ): Promise<ResultOf<'session/end'>> {
    return this.call('session/end', params, options);
  }

  /** Forgets a process that has ended. */
  remove(
    params: ParamsOf<'process/remove'>,
    options?: SessionCallOptions,
  ): Promise<ResultOf<'process/remove'>> {
    return this.call('process/remove', params, options);
  }

  /** Waits for the end of a process. */
  wait(params: ParamsOf<'process/wait'>, options?: SessionCallOptions): Promise<ResultOf<'process/wait'>> {
    return this.call('process/wait', params, options);
  }

  /** Head and tail of the output, and the screen of a terminal. */
  snapshot(
    params: ParamsOf<'process/snapshot'>,
    options?: SessionCallOptions,
  ): Promise<ResultOf<'process/snapshot'>> {
    return this.call('process/snapshot', params, options);
  }

  /** The processes of this session, or of all that belong to its principal. */
  list(params: ParamsOf<'process/list'>, options?: SessionCallOptions): Promise<ResultOf<'process/list'>> {
    return this.call('process/list', params, options);
  }

  /** Follows a process of another session; register it first to get its events. */
  attach(
    params: ParamsOf<'process/attach'>,
    options?: SessionCallOptions,
  ): Promise<ResultOf<'process/attach'>> {
    return this.call('process/attach', params, options);
  }

  /** Follows it no longer. */
  detach(
    params: ParamsOf<'process/detach'>,
    options?: SessionCallOptions,
  ): Promise<ResultOf<'process/detach'>> {
    return this.call('process/detach', params, options);
  }

  /** Waits until something accepts connections on a port of the server's machine. */
  waitForPort(
    params: ParamsOf<'net/waitForPort'>,
    options?: SessionCallOptions,
  ): Promise<ResultOf<'net/waitForPort'>> {
    return this.call('net/waitForPort', params, options);
  }

  /** Reads a whole file. */
  fsReadFile(
    params: ParamsOf<'fs/readFile'>,
    options?: SessionCallOptions,
  ): Promise<ResultOf<'fs/readFile'>> {
    return this.call('fs/readFile', params, options);
  }

  /** Writes a whole file. */
  fsWriteFile(
    params: ParamsOf<'fs/writeFile'>,
    options?: SessionCallOptions,
  ): Promise<ResultOf<'fs/writeFile'>> {
    return this.call('fs/writeFile', params, options);
  }

  /** Opens a file; its handle ends with the connection. */
  fsOpen(params: ParamsOf<'fs/open'>, options?: SessionCallOptions): Promise<ResultOf<'fs/open'>> {
    return this.call('fs/open', params, options);
  }

  /** Reads from an open file. */
  fsReadBlock(
    params: ParamsOf<'fs/readBlock'>,
    options?: SessionCallOptions,
  ): Promise<ResultOf<'fs/readBlock'>> {
    return this.call('fs/readBlock', params, options);
  }

  /** Writes to an open file. */
  fsWriteBlock(
    params: ParamsOf<'fs/writeBlock'>,
    options?: SessionCallOptions,
  ): Promise<ResultOf<'fs/writeBlock'>> {
    return this.call('fs/writeBlock', params, options);
  }

  /** Closes an open file. */
  fsClose(params: ParamsOf<'fs/close'>, options?: SessionCallOptions): Promise<ResultOf<'fs/close'>> {
    return this.call('fs/close', params, options);
  }

  /** Creates a directory. */
  fsCreateDirectory(
    params: ParamsOf<'fs/createDirectory'>,
    options?: SessionCallOptions,
  ): Promise<ResultOf<'fs/createDirectory'>> {
    return this.call('fs/createDirectory', params, options);
  }

  /** What kind of file it is, its size and its times. */
  fsGetMetadata(
    params: ParamsOf<'fs/getMetadata'>,
    options?: SessionCallOptions,
  ): Promise<ResultOf<'fs/getMetadata'>> {
    return this.call('fs/getMetadata', params, options);
  }

  /** Resolves symbolic links. */
  fsCanonicalize(
    params: ParamsOf<'fs/canonicalize'>,
    options?: SessionCallOptions,
  ): Promise<ResultOf<'fs/canonicalize'>> {
    return this.call('fs/canonicalize', params, options);
  }

  /** Lists a directory. */
  fsReadDirectory(
    params: ParamsOf<'fs/readDirectory'>,
    options?: SessionCallOptions,
  ): Promise<ResultOf<'fs/readDirectory'>> {
    return this.call('fs/readDirectory', params, options);
  }

  /** Lists a directory and those below. */
  fsWalk(params: ParamsOf<'fs/walk'>, options?: SessionCallOptions): Promise<ResultOf<'fs/walk'>> {
    return this.call('fs/walk', params, options);
  }

  /** Removes a file or a directory. */
  fsRemove(params: ParamsOf<'fs/remove'>, options?: SessionCallOptions): Promise<ResultOf<'fs/remove'>> {
    return this.call('fs/remove', params, options);
  }

  /** Copies a file or a directory. */
  fsCopy(params: ParamsOf<'fs/copy'>, options?: SessionCallOptions): Promise<ResultOf<'fs/copy'>> {
    return this.call('fs/copy', params, options);
  }

  /** Moves a file or a directory. */
  fsRename(params: ParamsOf<'fs/rename'>, options?: SessionCallOptions): Promise<ResultOf<'fs/rename'>> {
    return this.call('fs/rename', params, options);
  }

  /** Changes permissions. */
  fsSetMode(params: ParamsOf<'fs/setMode'>, options?: SessionCallOptions): Promise<ResultOf<'fs/setMode'>> {
    return this.call('fs/setMode', params, options);
  }

  /** What a symbolic link points to. */
  fsReadLink(
    params: ParamsOf<'fs/readLink'>,
    options?: SessionCallOptions,
  ): Promise<ResultOf<'fs/readLink'>> {
    return this.call('fs/readLink', params, options);
  }

  /** Makes a symbolic link. */
  fsSymlink(params: ParamsOf<'fs/symlink'>, options?: SessionCallOptions): Promise<ResultOf<'fs/symlink'>> {
    return this.call('fs/symlink', params, options);
  }

  /** Tells changes as `fs/changed`, until the connection ends. */
  fsWatch(params: ParamsOf<'fs/watch'>, options?: SessionCallOptions): Promise<ResultOf<'fs/watch'>> {
    return this.call('fs/watch', params, options);
  }

  /** Tells them no longer. */
  fsUnwatch(params: ParamsOf<'fs/unwatch'>, options?: SessionCallOptions): Promise<ResultOf<'fs/unwatch'>> {
    return this.call('fs/unwatch', params, options);
  }

  /** Tells as `fs/missingChanged` when one of the paths comes or goes. */
  fsWatchMissing(
    params: ParamsOf<'fs/watchMissing'>,
    options?: SessionCallOptions,
  ): Promise<ResultOf<'fs/watchMissing'>> {
    return this.call('fs/watchMissing', params, options);
  }

  /** Reads the configuration of the server's machine. */
  environmentConfigRead(
    params: ParamsOf<'environmentConfig/read'>,
    options?: SessionCallOptions,
  ): Promise<ResultOf<'environmentConfig/read'>> {
    return this.call('environmentConfig/read', params, options);
  }

  /** Looks for plugins and skills below given directories. */
  discoverCapabilityRoots(
    params: ParamsOf<'capabilityRoots/discoverV1'>,
    options?: SessionCallOptions,
  ): Promise<ResultOf<'capabilityRoots/discoverV1'>> {
    return this.call('capabilityRoots/discoverV1', params, options);
  }

  /** The plugins and skills that are installed on the server's machine. */
  discoverCapabilities(
    params: ParamsOf<'capabilities/discoverV2'>,
    options?: SessionCallOptions,
  ): Promise<ResultOf<'capabilities/discoverV2'>> {
    return this.call('capabilities/discoverV2', params, options);
  }

  /** Asks the server about its machine and what it can do. */
  environmentInfo(options?: SessionCallOptions): Promise<ResultOf<'environment/info'>> {
    return this.call('environment/info', null, options);
  }

  /** Asks the server whether it is ready. */
  environmentStatus(options?: SessionCallOptions): Promise<ResultOf<'environment/status'>> {
    return this.call('environment/status', null, options);
  }
}

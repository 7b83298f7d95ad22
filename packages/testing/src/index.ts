export { before, DEFAULT_DEADLINE_MS } from './deadline.js';
export { type FixtureName, fixture } from './fixture.js';
export { Inbox, isResponseTo, type MessagePredicate, type WireMessage } from './inbox.js';
export { openWire, UpgradeRefused, Wire, type WireClosed, type WireOptions } from './open-wire.js';
export { type RequireProgramOptions, requireProgram, type SkippableTest } from './require-program.js';
export { type CommandOptions, type Exit, SpawnedCommand } from './spawned-command.js';
export { type RunningServer, startServer } from './start-server.js';
export { StdioServer, startStdioServer } from './start-stdio-server.js';
export { isRunning, waitForProcessGone } from './wait-for-process-gone.js';

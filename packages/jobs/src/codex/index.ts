export {
  describeTurnFailure,
  endTurn,
  NO_EVENTS,
  type TurnProgress,
  takeExecEvent,
} from './exec-events.js';
export {
  mapTurnCompleted,
  type TurnCompletedNotification,
  type TurnEnd,
  type TurnIdentity,
} from './turn-status.js';
export { createWorkerPrompt, type WorkerPrompt } from './worker-prompt.js';

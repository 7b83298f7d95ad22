export * from './command.js';
export { METHODS, type MethodName, type ParamsOf, type ResultOf, SERVER_NOTIFICATIONS } from './methods.js';

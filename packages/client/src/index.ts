export { connect, createDialer } from './browser-connect.js';
export * from './sdk.js';

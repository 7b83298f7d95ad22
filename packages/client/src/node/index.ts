export * from '../sdk.js';
export { connect, createDialer } from './connect.js';

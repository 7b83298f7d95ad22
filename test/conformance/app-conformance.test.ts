import { describeRecordings } from './describe-recordings.js';
import { isAppScenario } from './transcript.js';

// In a file of its own, beside the others: these recordings have processes that run into timeouts.
describeRecordings('conformance with the app-server', isAppScenario);

import { describeRecordings } from './describe-recordings.js';
import { isAppScenario } from './transcript.js';

describeRecordings('conformance', (scenario) => !isAppScenario(scenario));

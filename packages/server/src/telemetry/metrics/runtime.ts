import type { Metric } from './metric.js';

const MICROSECONDS = 1e6;
const MILLISECONDS = 1e3;

/** What the process of the server uses, under the names that every exporter has for it. */
export function measureRuntime(): Metric[] {
  const { user, system } = process.cpuUsage();
  return [
    {
      type: 'gauge',
      name: 'process_resident_memory_bytes',
      help: 'Resident memory.',
      samples: [{ labels: {}, value: process.memoryUsage.rss() }],
    },
    {
      type: 'counter',
      name: 'process_cpu_seconds_total',
      help: 'Processor time, user and system.',
      samples: [{ labels: {}, value: (user + system) / MICROSECONDS }],
    },
    measureStart(),
  ];
}

/** When the process began. */
export function measureStart(): Metric {
  return {
    type: 'gauge',
    name: 'process_start_time_seconds',
    help: 'Start of the process since 1970.',
    samples: [{ labels: {}, value: performance.timeOrigin / MILLISECONDS }],
  };
}

import { describe, expect, test } from 'vitest';
import { OutboundGauge } from '../src/outbound-gauge.js';

const HIGH = 100;
const LOW = 40;

function fullGauge(): OutboundGauge {
  const gauge = new OutboundGauge(HIGH, LOW);
  gauge.update(HIGH);
  return gauge;
}

describe('OutboundGauge', () => {
  test.each([
    [HIGH - 1, true],
    [HIGH, false],
    [HIGH + 1, false],
  ])('%i queued bytes: writable is %s', (bytes, writable) => {
    const gauge = new OutboundGauge(HIGH, LOW);
    gauge.update(bytes);
    expect(gauge.writable).toBe(writable);
  });

  test.each([
    [LOW + 1, false],
    [LOW, true],
    [LOW - 1, true],
  ])('full, then %i queued bytes: writable is %s', (bytes, writable) => {
    const gauge = fullGauge();
    gauge.update(bytes);
    expect(gauge.writable).toBe(writable);
  });

  test('stays writable between the marks when it was not full', () => {
    const gauge = new OutboundGauge(HIGH, LOW);
    gauge.update(HIGH - 1);
    gauge.update(LOW + 1);
    expect(gauge.writable).toBe(true);
  });

  test('all waiters share one promise, settled at the low mark', async () => {
    const gauge = fullGauge();
    const waiting = gauge.whenWritable();
    expect(gauge.whenWritable()).toBe(waiting);
    gauge.update(LOW);
    await waiting;
    gauge.update(HIGH);
    expect(gauge.whenWritable()).not.toBe(waiting);
  });

  test('settles at once when writable, and at close', async () => {
    await new OutboundGauge(HIGH, LOW).whenWritable();
    const gauge = fullGauge();
    const waiting = gauge.whenWritable();
    gauge.close();
    await waiting;
    gauge.update(HIGH);
    expect(gauge.writable).toBe(true);
  });

  test.each([
    [100, 100],
    [100, 101],
    [0, 0],
    [Number.NaN, 0],
  ])('refuses marks %d and %d', (high, low) => {
    expect(() => new OutboundGauge(high, low)).toThrow(RangeError);
  });
});

import { expect, test } from 'vitest';
import { checkInputColumns, toHeaderLine, toItemLine } from '../../src/output/output-columns.js';

const ITEM = {
  job_id: 'j',
  item_id: 'row-1',
  row_index: 0,
  source_id: undefined,
  status: 'completed',
  attempt_count: 1,
  last_error: undefined,
  result_json: '{"a":"b"}',
  reported_at: undefined,
  completed_at: '2026-01-02T03:04:05.000Z',
};

test('the output has the columns of the input first', () => {
  expect(toHeaderLine(['x', 'y z'])).toBe(
    'x,y z,job_id,item_id,row_index,source_id,status,attempt_count,last_error,result_json,reported_at,completed_at\n',
  );
});

test('fields are quoted only where they have to be', () => {
  expect(toItemLine(['x', 'y', 'z'], { x: 'a b', y: 'a,"b"', z: 'l\nm' }, ITEM)).toBe(
    'a b,"a,""b""","l\nm",j,row-1,0,,completed,1,,"{""a"":""b""}",,2026-01-02T03:04:05.000Z\n',
  );
});

test('columns of the output are refused in the input', () => {
  expect(() => checkInputColumns(['a', 'status', 'job_id'])).toThrow(
    'the input has columns that the output adds: job_id, status; rename them or leave them out',
  );
  checkInputColumns(['a', 'Status']);
});

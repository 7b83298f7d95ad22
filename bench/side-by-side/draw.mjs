// The newest whole run as bars on a logarithmic scale: to the right of the line ours is better, whatever better means.
// The picture brings its own background, so that it can be read on a light page and on a dark one.

const WIDTH = 900;
const LABEL_END = 400;
const ROW_HEIGHT = 22;
const BAR_HEIGHT = 12;
const TOP = 84;
const BOTTOM = 20;
const MARGIN = 16;
/** The scale ends at so many times worse and better; a longer bar is cut there, its number is not. */
const WORST = 0.1;
const BEST = 100;
const SCALE_START = LABEL_END + 12;
const SCALE_END = WIDTH - 76;
const GRID = [0.1, 1, 10, 100];
/** Earlier runs that are shown as dots. */
const MAX_EARLIER_RUNS = 5;

const STYLE = `
  svg { --page: #ffffff; --edge: #d0d7de; --text: #1f2328; --faint: #656d76; --grid: #e6e9ed; --met: #1a7f37; --missed: #bc4c00; }
  @media (prefers-color-scheme: dark) {
    svg { --page: #0d1117; --edge: #3d444d; --text: #e6edf3; --faint: #9198a1; --grid: #262c36; --met: #3fb950; --missed: #f0883e; }
  }
  text { font: 12px system-ui, sans-serif; fill: var(--text); }
  .title { font-size: 15px; font-weight: 600; }
  .faint { fill: var(--faint); }
  .number { font-weight: 600; }
  .met { fill: var(--met); }
  .missed { fill: var(--missed); }
  .grid { stroke: var(--grid); }
  .equal { stroke: var(--faint); }
  .target { stroke: var(--text); stroke-width: 2; }
  .earlier { fill: none; stroke: var(--faint); }
`;

/** Advantage of ours: above 1 is better. Where less is better, the target says so. */
const advantage = (ratio, target) => (target.startsWith('≤') ? 1 / ratio : ratio);

/** An SVG of the newest whole run of the history, with the runs before it as dots. */
export function drawHistory(history) {
  const whole = history.filter(({ quick }) => !quick);
  const runs = whole.length > 0 ? whole : history;
  const newest = runs.at(-1);
  const earlier = runs.slice(0, -1).slice(-MAX_EARLIER_RUNS);
  const { rows } = newest;
  const height = TOP + rows.length * ROW_HEIGHT + BOTTOM;
  const met = rows.filter(({ holds }) => holds).length;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img">
<title>Times better than the reference: ${met} of ${rows.length} targets met</title>
<style>${STYLE}</style>
<rect x="0.5" y="0.5" width="${WIDTH - 1}" height="${height - 1}" rx="6" style="fill: var(--page); stroke: var(--edge)"/>
<text class="title" x="${MARGIN}" y="26">Times better than the reference, same work, same transport</text>
<text class="faint" x="${MARGIN}" y="45">${newest.at.slice(0, 10)}, Node ${newest.node}${newest.quick ? ', quick run' : ''}: ${met} of ${rows.length} targets met</text>
${drawLegend(earlier.length > 0)}
${GRID.map((times) => drawGridLine(times, height)).join('\n')}
${rows.map((row, index) => drawRow(row, TOP + index * ROW_HEIGHT, earlier)).join('\n')}
</svg>
`;
}

function drawLegend(hasEarlier) {
  const y = 45;
  return (
    `<rect class="met" x="${SCALE_START + 130}" y="${y - 10}" width="12" height="${BAR_HEIGHT}"/>` +
    `<text x="${SCALE_START + 147}" y="${y}">target met</text>` +
    `<rect class="missed" x="${SCALE_START + 227}" y="${y - 10}" width="12" height="${BAR_HEIGHT}"/>` +
    `<text x="${SCALE_START + 244}" y="${y}">missed</text>` +
    `<line class="target" x1="${SCALE_START + 307}" y1="${y - 11}" x2="${SCALE_START + 307}" y2="${y + 3}"/>` +
    `<text x="${SCALE_START + 314}" y="${y}">target</text>` +
    (hasEarlier
      ? `<circle class="earlier" cx="${SCALE_START + 371}" cy="${y - 4}" r="2.5"/>` +
        `<text x="${SCALE_START + 380}" y="${y}">earlier run</text>`
      : '')
  );
}

function drawGridLine(times, height) {
  const x = place(times);
  const kind = times === 1 ? 'equal' : 'grid';
  return (
    `<line class="${kind}" x1="${x}" y1="${TOP - 6}" x2="${x}" y2="${height - BOTTOM + 6}"/>` +
    `<text class="faint" x="${x}" y="${TOP - 11}" text-anchor="middle">${times === 1 ? 'equal' : `${times}×`}</text>`
  );
}

function drawRow(row, top, earlier) {
  const times = advantage(row.ratio, row.target);
  const kind = row.holds ? 'met' : 'missed';
  const [start, end] = [place(Math.min(1, times)), place(Math.max(1, times))];
  const middle = top + ROW_HEIGHT / 2;
  const aim = place(advantage(Number(row.target.slice(2)), row.target));
  const label = escapeXml(`${row.words.replaceAll('`', '')} (${row.transport})`);
  return [
    `<text x="${LABEL_END}" y="${middle + 4}" text-anchor="end">${label}</text>`,
    `<rect class="${kind}" x="${start}" y="${middle - BAR_HEIGHT / 2}" width="${(end - start).toFixed(1)}" height="${BAR_HEIGHT}"/>`,
    ...earlier.flatMap(({ rows }) => drawEarlier(row, rows, middle)),
    `<line class="target" x1="${aim}" y1="${middle - 8}" x2="${aim}" y2="${middle + 8}"/>`,
    `<text class="number ${kind}" x="${WIDTH - MARGIN}" y="${middle + 4}" text-anchor="end">${format(times)} ${row.holds ? '✓' : '✗'}</text>`,
  ].join('');
}

function drawEarlier(row, rows, middle) {
  const before = rows.find(({ words, transport }) => words === row.words && transport === row.transport);
  if (before === undefined) return [];
  return [
    `<circle class="earlier" cx="${place(advantage(before.ratio, row.target))}" cy="${middle}" r="2.5"/>`,
  ];
}

/** Where on the scale so many times better is. */
function place(times) {
  const decades = Math.log10(Math.min(BEST, Math.max(WORST, times)) / WORST);
  const share = decades / Math.log10(BEST / WORST);
  return Number((SCALE_START + share * (SCALE_END - SCALE_START)).toFixed(1));
}

function format(times) {
  return `${times >= 10 ? Math.round(times) : times.toFixed(2)}×`;
}

function escapeXml(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

// The newest run as bars on a logarithmic scale: to the right of the line ours is better, whatever better means.

const WIDTH = 860;
const LABEL_WIDTH = 380;
const ROW_HEIGHT = 22;
const TOP = 46;
/** Bars end at so many times better or worse. */
const SCALE_END = 100;

/** Where less is better, the words say so by their unit. */
const lessIsBetter = (target) => target.startsWith('≤');

/** Advantage of ours: above 1 is better. */
const advantage = ({ ratio, target }) => (lessIsBetter(target) ? 1 / ratio : ratio);

/** An SVG of the newest whole run of the history. */
export function drawHistory(history) {
  const newest = history.findLast(({ quick }) => !quick) ?? history.at(-1);
  const rows = newest?.rows ?? [];
  const height = TOP + rows.length * ROW_HEIGHT + 16;
  const middle = LABEL_WIDTH + (WIDTH - LABEL_WIDTH) / 3;
  const perDecade = (WIDTH - middle - 70) / Math.log10(SCALE_END);
  const bars = rows.map((row, index) => drawRow(row, TOP + index * ROW_HEIGHT, middle, perDecade));
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="12">
<title>Times better than the reference</title>
<rect width="${WIDTH}" height="${height}" fill="#fff"/>
<text x="12" y="20" font-size="14" font-weight="bold">Times better than the reference, same work, same transport</text>
<text x="12" y="36" fill="#666">${newest?.at.slice(0, 10) ?? ''}, Node ${newest?.node ?? ''}; the line is equality, a paler bar misses its target</text>
<line x1="${middle}" y1="${TOP - 4}" x2="${middle}" y2="${height - 8}" stroke="#333"/>
${bars.join('\n')}
</svg>
`;
}

function drawRow(row, top, middle, perDecade) {
  const times = advantage(row);
  const length = Math.max(-110, Math.min(Math.log10(times) * perDecade, perDecade * Math.log10(SCALE_END)));
  const colour = times >= 1 ? '#2b8a3e' : '#c92a2a';
  const x = Math.min(middle, middle + length);
  const label = escapeXml(`${row.words.replaceAll('`', '')} (${row.transport})`);
  const textX = times >= 1 ? middle + length + 4 : middle + 4;
  return (
    `<text x="${LABEL_WIDTH - 8}" y="${top + 14}" text-anchor="end">${label}</text>` +
    `<rect x="${x.toFixed(1)}" y="${top + 3}" width="${Math.abs(length).toFixed(1)}" height="14" fill="${colour}" fill-opacity="${row.holds ? 1 : 0.45}"/>` +
    `<text x="${textX.toFixed(1)}" y="${top + 14}">${times >= 10 ? Math.round(times) : times.toFixed(2)}×</text>`
  );
}

function escapeXml(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

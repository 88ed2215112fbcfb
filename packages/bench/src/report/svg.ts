import { barsSvg } from './bars-svg.ts';
import type { Chart } from './chart.ts';
import { curveSvg } from './curve-svg.ts';
import { gridSvg } from './grid-svg.ts';
import { linesSvg } from './lines-svg.ts';
import { partsSvg } from './parts-svg.ts';
import { escapedHtml, narrowFrame, wideFrame, type Frame } from './svg-parts.ts';

function drawnIn(chart: Exclude<Chart, { readonly kind: 'said' }>, frame: Frame): string {
  switch (chart.kind) {
    case 'bars':
      return barsSvg(chart, frame);
    case 'lines':
      return linesSvg(chart, frame);
    case 'parts':
      return partsSvg(chart, frame);
    case 'grid':
      return gridSvg(chart, frame);
    case 'curve':
      return curveSvg(chart, frame);
  }
}

/** For a wide window and for a narrow one: the page shows the one that fits. */
export function drawn(chart: Chart): string {
  if (chart.kind === 'said') return `<p class="said">${escapedHtml(chart.says)}</p>`;
  return drawnIn(chart, wideFrame) + drawnIn(chart, narrowFrame);
}

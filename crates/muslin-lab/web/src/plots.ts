// Three plots of the last twenty seconds: largest strain, total energy, cost of a frame; a line
// for each pane.

import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { Report } from './types';
import { byId, cssValue, figure, h } from './dom';
import { PANE_COLOURS } from './colours';

const SECONDS = 20;

/** `fromZero` for quantities that are small or large, rather than more or less. */
interface Quantity { title: string; unit: string; fromZero: boolean; read(report: Report): number }

const QUANTITIES: Quantity[] = [
  { title: 'Max strain', unit: '%', fromZero: true, read: (r) => 100 * r.max_strain },
  { title: 'Total energy', unit: 'J', fromZero: false, read: (r) => r.energy.total },
  { title: 'Cost per frame', unit: 'ms', fromZero: true, read: (r) => r.ms },
];

export class Plots {
  private times: number[] = [];
  /** Values by quantity, then pane. */
  private values: (number | null)[][][] = [];
  private plots: uPlot[] = [];
  private holders: HTMLElement[] = [];
  private readonly latest: (Report | null)[] = [];
  private panes = 0;

  constructor() {
    this.holders = QUANTITIES.map(() => h('div', { class: 'plot-area' }));
    byId('plots').replaceChildren(...QUANTITIES.map((q, i) =>
      h('figure', { class: 'plot' }, h('figcaption', {}, q.title, h('span', { class: 'unit' }, q.unit)), this.holders[i])));
    new ResizeObserver(() => this.resize()).observe(byId('plots'));
  }

  /** Starts anew: other scenes and other panes have nothing to do with the lines so far. */
  open(panes: number): void {
    this.panes = panes;
    this.times = [];
    this.latest.length = 0;
    this.values = QUANTITIES.map(() => Array.from({ length: panes }, () => []));
    this.build();
  }

  /** Also for a change of theme: uPlot takes its colours once. */
  build(): void {
    for (const plot of this.plots) plot.destroy();
    const [text, grid] = [cssValue('--dim'), cssValue('--rule')];
    const font = '11px system-ui, sans-serif';
    this.plots = this.holders.map((holder, i) => new uPlot({
      ...this.space(holder),
      legend: { show: false },
      cursor: { show: false },
      padding: [6, 4, 0, 0],
      scales: { x: { time: false, range: () => { const now = this.times.at(-1) ?? 0; return [now - SECONDS, now]; } },
        ...(QUANTITIES[i]?.fromZero ? { y: { range: (_: uPlot, __: number, top: number) => [0, 1.1 * top || 1] as [number, number] } } : {}) },
      axes: [
        { stroke: text, font, size: 18, gap: 2, grid: { show: false }, ticks: { show: false },
          splits: () => { const now = this.times.at(-1) ?? 0; return holder.clientWidth < 230 ? [now - 10] : [now - 15, now - 10, now - 5]; },
          values: (_, splits) => splits.map((s) => `−${Math.round((this.times.at(-1) ?? 0) - s)} s`) },
        { stroke: text, font, size: 46, gap: 4, space: 28, grid: { stroke: grid, width: 1 }, ticks: { show: false },
          values: (_, splits) => splits.map((s) => figure(s, 2)) },
      ],
      series: [{}, ...Array.from({ length: this.panes }, (_, p) => ({ stroke: PANE_COLOURS[p], width: 1.75, points: { show: false } }))],
    }, this.data(i), holder));
  }

  private data(quantity: number): uPlot.AlignedData {
    return [this.times, ...(this.values[quantity] ?? [])] as uPlot.AlignedData;
  }

  private space(holder: HTMLElement): { width: number; height: number } {
    return { width: Math.max(holder.clientWidth, 60), height: Math.max(holder.clientHeight, 60) };
  }

  resize(): void {
    this.plots.forEach((plot, i) => {
      const holder = this.holders[i];
      if (holder && holder.clientWidth > 0) plot.setSize(this.space(holder));
    });
  }

  /** Panes report one after the other; a row is written when the last one has. */
  take(report: Report): void {
    this.latest[report.pane] = report;
    if (report.pane !== this.panes - 1 || !report.playing) return;
    const now = performance.now() / 1000;
    this.times.push(now);
    QUANTITIES.forEach((q, i) => this.values[i]?.forEach((list, pane) => {
      const latest = this.latest[pane];
      const value = latest ? q.read(latest) : NaN;
      list.push(Number.isFinite(value) ? value : null);
    }));
    let old = 0;
    while ((this.times[old] ?? now) < now - SECONDS - 1) old++;
    if (old > 0) {
      this.times.splice(0, old);
      for (const lists of this.values) for (const list of lists) list.splice(0, old);
    }
    // Hidden plots keep their data and draw nothing.
    if (byId('plots').offsetParent !== null) this.plots.forEach((plot, i) => plot.setData(this.data(i)));
  }
}

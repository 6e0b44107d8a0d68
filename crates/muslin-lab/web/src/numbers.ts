// Readouts: the captions on the panes and the table of the Numbers tab.

import type { Method, Report } from './types';
import type { Rect } from './view';
import { byId, figure, fixed, h, NOTHING, percent } from './dom';
import { PANE_COLOURS } from './colours';

/** Below this many simulated seconds per second the pane is marked. */
const REAL_TIME = 0.95;

interface Cell { text: string; warn?: boolean }
interface Line { label: string; tip: string; cell(report: Report, method: Method): Cell }

const plain = (text: string): Cell => ({ text });

const LINES: Line[] = [
  { label: 'Time', tip: 'Simulated time.', cell: (r) => plain(`${fixed(r.time, 2)} s`) },
  { label: 'Cost', tip: 'Milliseconds of computing per frame.', cell: (r) => plain(`${fixed(r.ms, 2)} ms`) },
  { label: 'Forces', tip: 'Of the cost: forces, and the system matrix where there is one.', cell: (r) => plain(`${fixed(r.stages.forces, 2)} ms`) },
  { label: 'Solve', tip: 'Of the cost: the linear solve, XPBD’s constraint sweeps, or fits of shape matching.', cell: (r) => plain(`${fixed(r.stages.solve, 2)} ms`) },
  { label: 'Rest', tip: 'Of the cost: pins, pulls, checks, and now and then the figures of this table.', cell: (r) => plain(`${fixed(r.stages.rest, 2)} ms`) },
  { label: 'Speed', tip: 'Simulated seconds per second; below 0.95 the pane is slower than real time.', cell: (r) => ({ text: `${fixed(r.rate, 2)} ×`, warn: r.playing && r.rate < REAL_TIME }) },
  { label: 'Max strain', tip: 'Largest stretch of a structural edge.', cell: (r) => ({ text: percent(r.max_strain), warn: r.max_strain > 0.2 }) },
  { label: 'Mean strain', tip: 'Mean stretch over the structural edges.', cell: (r) => plain(percent(r.mean_strain)) },
  { label: 'Fastest', tip: 'Speed of the fastest particle.', cell: (r) => plain(`${figure(r.max_speed)} m/s`) },
  { label: 'Contacts', tip: 'Contacts of particles with bodies, and of cloth with cloth.', cell: (r) => plain(`${r.contacts ?? 0} + ${r.self_contacts ?? 0}`) },
  { label: 'Iterations', tip: 'Sweeps or iterations of the last frame.', cell: (r) => plain(r.iterations ? String(r.iterations) : NOTHING) },
  { label: 'Residual', tip: '‖b − A x‖/‖b‖ after the last solve; none for methods that solve no linear system.', cell: (r) => plain(figure(r.residual, 2)) },
  { label: 'Strain left', tip: 'Root mean square strain of the error that the solver left, by its own estimate.', cell: (r) => plain(typeof r.strain_left === 'number' ? `${figure(100 * r.strain_left, 2)} %` : NOTHING) },
  { label: 'Converged', tip: 'Whether the residual, or the strain left, is below the method’s tolerance. A fixed number of sweeps does not look at it.', cell: (r, method) => {
    if (r.residual === null || r.residual === undefined) return plain(NOTHING);
    // A little above is rounding: the solver stops by its own estimate. The hierarchy's is of the strain.
    const left = method.solver === 'hierarchy' ? r.strain_left ?? 0 : r.residual;
    const above = left > 1.5 * Number(method.tolerance ?? 0);
    const failed = above || r.warnings.some((w) => w.kind === 'not-converged');
    return { text: failed ? 'no' : 'yes', warn: failed };
  } },
  { label: 'Held back', tip: 'Particles that tethers moved and springs that the strain limit made shorter, in the last substep.', cell: (r) => plain(r.tethered || r.limited ? `${r.tethered ?? 0} + ${r.limited ?? 0}` : NOTHING) },
  { label: 'To converged', tip: 'Distance of the step to the converged step; measured now and then when several panes are shown.', cell: (r) => plain(percent(r.error)) },
  { label: 'Kinetic', tip: 'Kinetic energy.', cell: (r) => plain(`${figure(r.energy.kinetic)} J`) },
  { label: 'Elastic', tip: 'Energy in springs, hinges and 3D springs.', cell: (r) => plain(`${figure(r.energy.elastic)} J`) },
  { label: 'Gravity', tip: 'Potential energy.', cell: (r) => plain(`${figure(r.energy.gravity)} J`) },
  { label: 'Total', tip: 'Sum of the energies.', cell: (r) => plain(`${figure(r.energy.total)} J`) },
  { label: 'k h²/m', tip: 'Stiffness number of the stiffest spring, against what the method was seen to stand.', cell: (r) => ({
    text: `${figure(r.stiffness_number, 2)} / ${r.limit === null || !Number.isFinite(r.limit) ? '∞' : figure(r.limit, 2)}`,
    warn: r.limit !== null && r.stiffness_number > r.limit,
  }) },
];

export class Numbers {
  readonly reports: (Report | null)[] = [];
  private errors: (number | null)[] = [];
  private methods: Method[] = [];
  private captions: { element: HTMLElement; name: HTMLElement; facts: HTMLElement }[] = [];
  private cells: HTMLElement[][] = [];
  private readonly drawing = h('td', {}, NOTHING);
  private drawingCost = 0;

  /** Captions and table columns for these methods. */
  open(methods: Method[], isOwn: (m: Method) => boolean): void {
    this.reports.length = 0;
    this.methods = methods;
    this.errors = methods.map(() => null);
    this.captions = methods.map((m, pane) => {
      const name = h('span', { class: 'caption-name' }, m.id, isOwn(m) ? null : h('i', {}, ' edited'));
      const facts = h('span', { class: 'caption-facts' });
      const element = h('div', { class: 'caption', style: `--pane: ${PANE_COLOURS[pane]}` }, h('span', { class: 'dot' }), name, facts);
      return { element, name, facts };
    });
    byId('captions').replaceChildren(...this.captions.map((c) => c.element));
    this.table(methods);
  }

  private table(methods: Method[]): void {
    this.cells = LINES.map(() => methods.map(() => h('td', {}, NOTHING)));
    const head = h('tr', {}, h('th', { scope: 'col' }, h('span', { class: 'hidden' }, 'Quantity')),
      ...methods.map((m, pane) => h('th', { scope: 'col', title: m.id, style: `--pane: ${PANE_COLOURS[pane]}` },
        h('span', { class: 'dot' }), h('span', { class: 'hidden' }, m.id), methods.length > 1 ? String(pane + 1) : m.id)));
    const rows = LINES.map((line, i) => h('tr', { title: line.tip }, h('th', { scope: 'row' }, line.label), ...this.cells[i]!));
    // Drawing is the page's own cost, and that of all panes together.
    this.drawing.colSpan = methods.length;
    rows.splice(5, 0, h('tr', { title: 'Milliseconds the page spends on one picture of all panes, besides what the graphics card does.' }, h('th', { scope: 'row' }, 'Drawing'), this.drawing));
    byId('readouts').replaceChildren(h('table', { class: `readouts n${methods.length}` }, h('thead', {}, head), h('tbody', {}, ...rows)));
  }

  /** A picture was drawn in so many milliseconds. */
  drew(ms: number): void {
    this.drawingCost += 0.1 * (ms - this.drawingCost);
  }

  /** `apart` is when the cloth of that pane flew apart, if it did. */
  take(report: Report, apart: number | null): void {
    const caption = this.captions[report.pane];
    if (!caption) return;
    // The distance to the converged step comes now and then: the last one stays.
    if (report.error !== null && report.error !== undefined) this.errors[report.pane] = report.error;
    const full = { ...report, error: this.errors[report.pane] ?? null };
    this.reports[report.pane] = full;
    const facts: (HTMLElement | string)[] = [
      h('span', {}, `${fixed(full.ms, 1)} ms`),
      h('span', { class: full.max_strain > 0.2 ? 'warn' : '' }, `strain ${percent(full.max_strain)}`),
    ];
    if (full.error !== null) facts.push(h('span', { title: 'Distance to the converged step' }, `error ${percent(full.error)}`));
    if (full.playing && full.rate < REAL_TIME) facts.push(h('span', { class: 'warn' }, `${fixed(full.rate, 2)} × real time`));
    if (apart !== null) facts.push(h('span', { class: 'warn', title: 'The wires are its last shape in sight' }, `flew apart at ${fixed(apart, 2)} s`));
    caption.facts.replaceChildren(...facts);
    this.drawing.textContent = `${fixed(this.drawingCost, 2)} ms`;
    LINES.forEach((line, i) => {
      const cell = this.cells[i]?.[report.pane];
      if (!cell) return;
      const { text, warn } = line.cell(full, this.methods[report.pane]!);
      if (cell.textContent !== text) cell.textContent = text;
      cell.classList.toggle('warn', warn ?? false);
    });
  }

  /** Puts the captions at the top left of their panes. */
  place(rects: Rect[]): void {
    this.captions.forEach(({ element }, i) => {
      const rect = rects[i];
      if (!rect) return;
      element.style.left = `${rect.x}px`;
      element.style.top = `${rect.y}px`;
      element.style.maxWidth = `${rect.width}px`;
    });
  }
}

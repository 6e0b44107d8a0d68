// Things to say without getting in the way: toasts, the banner of a lost connection, and the
// warnings of the engine, each listed once with a counter.

import type { Report } from './types';
import { byId, h, sentence } from './dom';
import { icon } from './icons';

const TITLES: Record<string, string> = {
  'not-converged': 'Solver not converged',
  'rolled-back': 'Step undone',
  'stiffness-beyond-limit': 'Too stiff for this method',
  overstretched: 'Overstretched',
  substepped: 'Step cut into substeps',
};

/** Warnings not heard of for this long are shown as past. [ms] */
const PAST = 3000;

interface Warning {
  count: number;
  heard: number;
  panes: Set<number>;
  element: HTMLDetailsElement;
  counter: HTMLElement;
}

export class Notices {
  private warnings = new Map<string, Warning>();
  private dismissed = new Set<string>();

  constructor() {
    setInterval(() => this.age(), 1000);
  }

  toast(text: string, kind: 'plain' | 'error' = 'plain'): void {
    const element = h('div', { class: `toast ${kind}` }, sentence(text));
    const host = byId('toasts');
    host.append(element);
    while (host.children.length > 3) host.firstElementChild?.remove();
    setTimeout(() => element.remove(), kind === 'error' ? 8000 : 2500);
  }

  banner(text: string | null): void {
    const banner = byId('banner');
    banner.hidden = text === null;
    if (text !== null && banner.textContent !== text) banner.textContent = text;
  }

  /** Another scene: what was said of the last one is over. */
  clear(): void {
    this.warnings.clear();
    this.dismissed.clear();
    byId('warnings').replaceChildren();
  }

  take(report: Report, panes: number): void {
    for (const { kind, remedy } of report.warnings) {
      if (this.dismissed.has(kind)) continue;
      const known = this.warnings.get(kind) ?? this.add(kind, remedy);
      known.count++;
      known.heard = performance.now();
      known.panes.add(report.pane);
      const where = panes > 1 ? `pane ${[...known.panes].sort().map((p) => p + 1).join(', ')} · ` : '';
      known.counter.textContent = `${where}× ${known.count}`;
      known.element.classList.remove('past');
    }
  }

  private add(kind: string, remedy: string): Warning {
    const counter = h('span', { class: 'count' });
    const close = h('button', { class: 'icon', title: 'Do not show this warning again for this scene', 'aria-label': 'Dismiss' }, icon('cross'));
    const element = h('details', { class: 'warning' },
      h('summary', {}, h('span', { class: 'warning-title' }, TITLES[kind] ?? sentence(kind)), counter, close),
      h('p', {}, sentence(remedy)));
    close.addEventListener('click', (event) => {
      event.preventDefault();
      this.dismissed.add(kind);
      this.warnings.delete(kind);
      element.remove();
    });
    const warning = { count: 0, heard: 0, panes: new Set<number>(), element, counter };
    this.warnings.set(kind, warning);
    byId('warnings').append(element);
    return warning;
  }

  private age(): void {
    const now = performance.now();
    for (const w of this.warnings.values()) w.element.classList.toggle('past', now - w.heard > PAST);
  }
}

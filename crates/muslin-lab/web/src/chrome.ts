// Everything around the stage: tool bar, legend, keyboard, theme, help and the panel's sheet.

import type { Opened, Report, ViewMode } from './types';
import { VIEW_MODES } from './types';
import { COLOUR_MAPS, cssGradient, SPRING_COLOURS } from './colours';
import { byId, figure, fixed, h } from './dom';
import { icon, type IconName } from './icons';
import { TOOLS, type Tool } from './sweeps';

export interface Actions {
  playPause(): void;
  step(): void;
  reset(): void;
  view(mode: ViewMode): void;
  frame(): void;
  undo(): void;
  redo(): void;
  ownValues(): void;
  copyLink(): void;
  picture(): void;
  clip(): void;
  shape(): void;
  tool(tool: Tool): void;
  theme(): void;
}

/** Narrower than this the panel is a sheet at the bottom and the plots are in its third tab. */
export const NARROW = '(max-width: 800px)';

const THEME_KEY = 'muslin-lab-theme';

export class Chrome {
  constructor(private readonly actions: Actions) {
    this.buttons();
    this.keys();
    this.themes();
    this.layout();
  }

  playing(playing: boolean): void {
    const button = byId('play');
    button.replaceChildren(icon(playing ? 'pause' : 'play'));
    button.setAttribute('aria-label', playing ? 'Pause' : 'Play');
    button.title = playing ? 'Pause (space)' : 'Play (space)';
  }

  time(time: number): void {
    byId('time').textContent = `${fixed(time, 2)} s`;
  }

  opened(message: Opened): void {
    const pane = message.panes[0];
    const count = (n: number) => n.toLocaleString('en').replaceAll(',', '\u2009');
    byId('facts').textContent = pane
      ? `${count(pane.particles)} particles · ${count(pane.triangles)} triangles · ${count(pane.springs)} springs`
      : '';
    document.title = `${message.scene.name} · Muslin lab`;
  }

  view(mode: ViewMode): void {
    for (const button of document.querySelectorAll<HTMLButtonElement>('[data-view]')) {
      button.setAttribute('aria-pressed', String(button.dataset.view === mode));
    }
  }

  tool(tool: Tool): void {
    for (const button of document.querySelectorAll<HTMLButtonElement>('[data-tool]')) {
      button.setAttribute('aria-pressed', String(button.dataset.tool === tool));
    }
    byId('stage').dataset.tool = tool;
  }

  clip(recording: boolean): void {
    const button = byId('clip');
    button.setAttribute('aria-pressed', String(recording));
    button.setAttribute('aria-label', recording ? 'Stop the clip' : 'Record a clip');
    button.title = recording ? 'Stop and save the clip' : 'Record a clip as WebM';
  }

  private legendKey = '';

  legend(mode: ViewMode, reports: (Report | null)[]): void {
    const legend = byId('legend');
    legend.hidden = mode === 'shaded' || mode === 'wireframe';
    if (mode === 'springs' && this.legendKey !== mode) {
      this.legendKey = mode;
      legend.replaceChildren(h('span', { class: 'legend-title' }, 'Springs'), ...SPRING_COLOURS.map(([kind, colour]) =>
        h('span', { class: 'legend-kind' }, h('i', { style: `background: ${colour}` }), kind)));
    }
    if (mode !== 'strain' && mode !== 'speed') return;
    const several = reports.length > 1;
    const fastest = several ? 'fastest in its pane' : `${figure(reports[0]?.max_speed, 2)} m/s`;
    const key = `${mode} ${fastest}`;
    if (key === this.legendKey) return;
    this.legendKey = key;
    // The strain scale is that of the texture: the root of the share of 20 %.
    const ticks: [number, string][] = mode === 'strain'
      ? [0, 1, 5, 10, 20].map((p) => [Math.sqrt(p / 20), `${p} %`])
      : [[0, '0'], [1, fastest]];
    legend.replaceChildren(
      h('span', { class: 'legend-title' }, mode === 'strain' ? 'Strain' : 'Speed'),
      h('div', { class: 'legend-scale' },
        h('div', { class: 'legend-bar', style: `background: ${cssGradient(COLOUR_MAPS[mode])}` }),
        h('div', { class: 'legend-ticks' }, ...ticks.map(([t, text]) =>
          h('span', { style: `left: ${100 * t}%`, class: t === 0 ? 'first' : t === 1 ? 'last' : '' }, text)))));
  }

  // --- buttons and keys ---

  private buttons(): void {
    const a = this.actions;
    const wire = (id: string, name: IconName, act: () => void) => {
      const button = byId<HTMLButtonElement>(id);
      button.prepend(icon(name));
      button.addEventListener('click', act);
    };
    wire('play', 'pause', () => a.playPause());
    wire('step', 'step', () => a.step());
    wire('reset', 'reset', () => a.reset());
    wire('frame', 'frame', () => a.frame());
    wire('undo', 'undo', () => a.undo());
    wire('redo', 'redo', () => a.redo());
    wire('own-values', 'own', () => a.ownValues());
    wire('copy-link', 'link', () => a.copyLink());
    wire('picture', 'camera', () => a.picture());
    wire('clip', 'clip', () => a.clip());
    wire('shape', 'cube', () => a.shape());
    for (const tool of TOOLS) {
      const button = document.querySelector<HTMLButtonElement>(`[data-tool=${tool}]`);
      button?.prepend(icon(tool));
      button?.addEventListener('click', () => a.tool(tool));
    }
    wire('theme', 'theme', () => this.toggleTheme());
    wire('help-open', 'help', () => this.help());
    wire('hide-panel', 'panel', () => this.togglePanel());
    wire('hide-plots', 'plots', () => document.body.classList.toggle('no-plots'));
    for (const mode of VIEW_MODES) {
      document.querySelector(`[data-view=${mode}]`)?.addEventListener('click', () => a.view(mode));
    }
    byId('sheet-handle').addEventListener('click', () => {
      const down = document.body.classList.toggle('sheet-down');
      byId('sheet-handle').setAttribute('aria-expanded', String(!down));
    });
  }

  private keys(): void {
    addEventListener('keydown', (event) => {
      const target = event.target instanceof HTMLElement ? event.target : null;
      const typing = target?.matches('input:not([type=range], [type=checkbox]), textarea, select') ?? false;
      const key = event.key.toLowerCase();
      if ((event.ctrlKey || event.metaKey) && (key === 'z' || key === 'y')) {
        // A field being typed into has an undo of its own.
        if (typing && target?.tagName === 'INPUT') (target as HTMLInputElement).blur();
        event.preventDefault();
        if (key === 'y' || event.shiftKey) this.actions.redo();
        else this.actions.undo();
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || typing || byId<HTMLDialogElement>('help').open) return;
      // Space and enter belong to the button or the section that has the focus.
      if (key === ' ' && target?.closest('button, summary, [type=checkbox]')) return;
      if (!this.press(key)) return;
      event.preventDefault();
    });
  }

  private press(key: string): boolean {
    const a = this.actions;
    const mode = VIEW_MODES[Number(key) - 1];
    if (mode) a.view(mode);
    else if (key === ' ') a.playPause();
    else if (key === 'r') a.reset();
    else if (key === 's') a.step();
    else if (key === 'v') a.tool('hand');
    else if (key === 'c') a.tool('cut');
    else if (key === 'w') a.tool('wind');
    else if (key === 'f') a.frame();
    else if (key === 'h') this.togglePanel();
    else if (key === 'p') document.body.classList.toggle('no-plots');
    else if (key === '?') this.help();
    else return false;
    return true;
  }

  private togglePanel(): void {
    const hidden = document.body.classList.toggle('no-panel');
    byId('hide-panel').setAttribute('aria-pressed', String(!hidden));
  }

  private help(): void {
    byId<HTMLDialogElement>('help').showModal();
  }

  // --- theme and layout ---

  private themes(): void {
    let stored: string | null = null;
    // Storage may be closed to the page.
    try { stored = localStorage.getItem(THEME_KEY); } catch { /* the system's theme, then */ }
    if (stored === 'dark' || stored === 'light') document.documentElement.dataset.theme = stored;
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.actions.theme());
  }

  private toggleTheme(): void {
    const root = document.documentElement;
    const dark = root.dataset.theme
      ? root.dataset.theme === 'dark'
      : matchMedia('(prefers-color-scheme: dark)').matches;
    root.dataset.theme = dark ? 'light' : 'dark';
    try { localStorage.setItem(THEME_KEY, root.dataset.theme); } catch { /* kept for this visit only */ }
    this.actions.theme();
  }

  private layout(): void {
    const narrow = matchMedia(NARROW);
    const place = () => {
      const plots = byId('plots');
      if (narrow.matches) byId('tab-numbers').prepend(plots);
      else byId('dock').append(plots);
    };
    narrow.addEventListener('change', place);
    place();
  }
}

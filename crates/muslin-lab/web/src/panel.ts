// The panel: scene and its values, methods and their choices. Built anew when the set of
// controls changes; otherwise the controls only show the new values.

import type { Bench } from './bench';
import { AIR_FIELDS, TIME_FIELDS, clothGroups, methodFields, type Field } from './fields';
import { control, type Control } from './controls';
import { byId, h, sentence } from './dom';
import { clone, getAt } from './paths';
import { PANE_COLOURS } from './colours';
import { icon } from './icons';

interface Bound { control: Control; value(): unknown; own(): unknown }

export class Panel {
  private bound: Bound[] = [];
  private built = '';
  private cloth = 0;
  /** Sections the person opened or closed, by title. */
  private readonly sections = new Map<string, boolean>();
  private keepSquare = true;
  dragStiffness = 200;

  constructor(private readonly bench: Bench, private readonly save: (pane: number) => void) {
    this.tabs();
  }

  /** Forced after an edit was refused: then what is being typed is not what is. */
  refresh(force = false): void {
    if (!this.bench.catalogue) return;
    const key = this.structure();
    if (key !== this.built) {
      this.built = key;
      force = true;
      this.rebuild();
    }
    for (const b of this.bound) b.control.show(b.value(), b.own(), force);
    byId<HTMLButtonElement>('undo').disabled = !this.bench.canUndo;
    byId<HTMLButtonElement>('redo').disabled = !this.bench.canRedo;
    byId<HTMLButtonElement>('own-values').disabled = !this.bench.edited;
  }

  /** What decides which controls there are. */
  private structure(): string {
    const { base, scene, methods } = this.bench;
    const cloths = scene?.cloth.map((c) => [c.name, !!c.mesh, !!c.fabric]);
    const choices = methods.map((m) => [m.id, methodFields(m).map((f) => f.key)]);
    return JSON.stringify([base?.name, cloths, choices, this.cloth]);
  }

  private rebuild(): void {
    // The element a person stands on may be replaced by its successor.
    const at = document.activeElement instanceof HTMLElement ? document.activeElement : null;
    const path = at?.dataset.path ?? at?.id;
    this.bound = [];
    byId('tab-scene').replaceChildren(...this.sceneTab());
    byId('tab-methods').replaceChildren(...this.methodsTab());
    if (path && !document.contains(at)) {
      const next = document.querySelector<HTMLElement>(`[data-path="${CSS.escape(path)}"]`) ?? document.getElementById(path);
      next?.focus();
    }
  }

  private section(title: string, open: boolean, ...children: (Node | null)[]): HTMLElement {
    const details = h('details', { class: 'section' }, h('summary', {}, title), ...children);
    details.open = this.sections.get(title) ?? open;
    details.addEventListener('toggle', () => this.sections.set(title, details.open));
    return details;
  }

  // --- scene ---

  private sceneTab(): HTMLElement[] {
    const { catalogue, scene } = this.bench;
    const menu = h('select', { id: 'scene-menu', 'data-path': 'scene-menu', 'aria-describedby': 'scene-about' });
    for (const s of catalogue?.scenes ?? []) menu.append(h('option', { value: s.name, title: s.about }, s.name));
    menu.addEventListener('change', () => {
      this.cloth = 0;
      this.bench.openScene(menu.value);
    });
    const about = h('p', { id: 'scene-about', class: 'about' });
    this.bound.push({
      control: { element: menu, show: (name) => {
        menu.value = String(name ?? '');
        const text = catalogue?.scenes.find((s) => s.name === name)?.about ?? '';
        about.textContent = sentence(text);
      } },
      value: () => this.bench.base?.name,
      own: () => null,
    });
    const top = h('div', { class: 'section top' }, h('label', { for: 'scene-menu', class: 'overline' }, 'Scene'), menu, about);
    if (!scene) return [top];
    if (this.cloth >= scene.cloth.length) this.cloth = 0;
    const cloth = scene.cloth[this.cloth];
    const groups = cloth ? clothGroups(cloth, catalogue?.fabrics ?? []) : [];
    return [
      top,
      this.section('Air and gravity', true, ...this.sceneFields(AIR_FIELDS, '')),
      ...groups.map((g, i) => this.section(g.title, g.open,
        i === 0 && scene.cloth.length > 1 ? this.clothMenu() : null,
        ...this.sceneFields(g.fields, `cloth.${this.cloth}.`),
        i === 0 && cloth && !cloth.mesh ? this.squareField() : null)),
      this.section('Time', true, ...this.sceneFields(TIME_FIELDS, '')),
      this.section('Hands', false, this.dragField()),
    ];
  }

  private sceneFields(fields: Field[], prefix: string): HTMLElement[] {
    return fields.map((field) => {
      const path = prefix + field.key;
      const made = control(field, path, (value, live) =>
        this.bench.editScene(path, value, live, this.followsFrom(path, value)));
      this.bound.push({ control: made, value: () => getAt(this.bench.scene, path), own: () => getAt(this.bench.base, path) });
      return made.element;
    });
  }

  /** What follows from other columns or rows: fabric needs nearly square cells, and cuts are gone. */
  private followsFrom(path: string, value: unknown): [string, unknown][] {
    const found = /^(cloth\.(\d+)\.)(columns|rows)$/.exec(path);
    const cloth = found && this.bench.scene?.cloth[Number(found[2])];
    if (!found || !cloth) return [];
    // Other particles: a cut between the old ones means nothing.
    const whole: [string, unknown] = [`${found[1]}cuts`, undefined];
    if (!this.keepSquare || cloth.rows < 2 || typeof value !== 'number') return [whole];
    const columns = found[3] === 'columns';
    const share = columns ? cloth.height / cloth.width : cloth.width / cloth.height;
    const other = Math.max(2, 1 + Math.round((value - 1) * share));
    return [[`${found[1]}${columns ? 'rows' : 'columns'}`, other], whole];
  }

  private squareField(): HTMLElement {
    const made = control({
      kind: 'check', key: 'square', label: 'Keep cells square',
      tip: 'Rows follow columns and the other way round. Cloth made of a fabric needs cells that are nearly square.',
    }, 'square', (value) => (this.keepSquare = value === true));
    this.bound.push({ control: made, value: () => this.keepSquare, own: () => true });
    return made.element;
  }

  private clothMenu(): HTMLElement {
    const menu = h('select', { id: 'cloth-menu', 'data-path': 'cloth-menu' });
    this.bench.scene?.cloth.forEach((c, i) => menu.append(h('option', { value: i }, `${i + 1} · ${c.fabric ?? c.name}`)));
    menu.value = String(this.cloth);
    menu.addEventListener('change', () => {
      this.cloth = Number(menu.value);
      this.refresh();
    });
    return h('div', { class: 'field choice', title: 'The cloth whose values are shown below.' },
      h('label', { for: 'cloth-menu', class: 'label' }, 'Which cloth'), menu);
  }

  private dragField(): HTMLElement {
    const field: Field = {
      kind: 'number', key: 'drag', label: 'Drag stiffness', unit: 'N/m', range: [1, 20000], logarithmic: true, min: 0.001,
      tip: 'Stiffness of the spring between cursor and particle for light cloth; heavier cloth gets more, as its weight asks.',
    };
    const made = control(field, 'drag', (value) => {
      if (typeof value === 'number') this.dragStiffness = value;
    });
    this.bound.push({ control: made, value: () => this.dragStiffness, own: () => 200 });
    return made.element;
  }

  // --- methods ---

  private methodsTab(): HTMLElement[] {
    const { methods } = this.bench;
    const cards = methods.map((_, pane) => this.methodCard(pane));
    const add = h('button', { id: 'add-pane', class: 'wide', title: 'Show one more method side by side, from the start.' }, icon('plus'), 'Add a pane');
    add.disabled = methods.length >= 4;
    add.addEventListener('click', () => this.addPane());
    return [...cards, h('div', { class: 'section' }, add,
      h('p', { class: 'about' }, 'Up to four methods run the same scene side by side, from the same start.'))];
  }

  /** The new pane shows the first method of a telling list that is not shown yet. */
  private addPane(): void {
    const shown = new Set(this.bench.methods.map((m) => m.id));
    const telling = ['muslin', 'kim-2006', 'xpbd', 'backward-euler', 'implicit-euler', 'kang-2000', 'choi-ko-2002'];
    const all = this.bench.catalogue?.methods.map((m) => m.id) ?? [];
    const id = [...telling.filter((t) => all.includes(t)), ...all].find((m) => !shown.has(m));
    const method = id && this.bench.ownMethod(id);
    if (method) this.bench.setMethods([...this.bench.methods, method]);
  }

  private methodCard(pane: number): HTMLElement {
    const { catalogue, methods } = this.bench;
    const method = methods[pane]!;
    const id = `method-menu-${pane}`;
    const menu = h('select', { id, 'data-path': id, 'aria-describedby': `${id}-about` });
    for (const m of catalogue?.methods ?? []) menu.append(h('option', { value: m.id, title: m.about }, m.id));
    menu.value = method.id;
    menu.addEventListener('change', () => {
      const chosen = this.bench.ownMethod(menu.value);
      if (chosen) this.bench.setMethods(this.bench.methods.map((m, i) => (i === pane ? clone(chosen) : m)));
    });
    const remove = h('button', { class: 'icon', title: 'Remove this pane', 'aria-label': `Remove pane ${pane + 1}` }, icon('cross'));
    remove.disabled = methods.length === 1;
    remove.addEventListener('click', () => this.bench.setMethods(this.bench.methods.filter((_, i) => i !== pane)));
    const save = h('button', { class: 'icon', title: 'Save the run so far as a file that “muslin run” replays', 'aria-label': `Save the run of pane ${pane + 1}` }, icon('save'));
    save.addEventListener('click', () => this.save(pane));
    const about = catalogue?.methods.find((m) => m.id === method.id)?.about ?? '';
    const fields = methodFields(method).map((field) => {
      const made = control(field, `method.${pane}.${field.key}`, (value, live) =>
        this.bench.editMethod(pane, field.key, value, live));
      this.bound.push({
        control: made,
        value: () => this.bench.methods[pane]?.[field.key],
        own: () => this.bench.ownMethod(method.id)?.[field.key],
      });
      return made.element;
    });
    this.bound.push({ control: { element: menu, show: (v) => (menu.value = String(v ?? '')) }, value: () => this.bench.methods[pane]?.id, own: () => null });
    return h('div', { class: 'section card', style: `--pane: ${PANE_COLOURS[pane]}` },
      h('div', { class: 'card-head' },
        h('label', { for: id, class: 'overline' }, h('span', { class: 'dot' }), `Pane ${pane + 1}`),
        h('div', { class: 'tools' }, save, remove)),
      menu, h('p', { id: `${id}-about`, class: 'about' }, sentence(about)), ...fields);
  }

  // --- tabs ---

  private tabs(): void {
    const tabs = [...document.querySelectorAll<HTMLButtonElement>('[role=tab]')];
    const choose = (chosen: HTMLButtonElement) => {
      for (const tab of tabs) {
        const on = tab === chosen;
        tab.setAttribute('aria-selected', String(on));
        tab.tabIndex = on ? 0 : -1;
        byId(tab.getAttribute('aria-controls') ?? '').hidden = !on;
      }
      document.body.classList.remove('sheet-down');
      window.dispatchEvent(new Event('resize'));
    };
    tabs.forEach((tab, i) => {
      tab.addEventListener('click', () => choose(tab));
      tab.addEventListener('keydown', (event) => {
        const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        const next = by && tabs[(i + by + tabs.length) % tabs.length];
        if (!next) return;
        choose(next);
        next.focus();
      });
    });
  }
}

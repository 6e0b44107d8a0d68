// One control per field: label, slider, number or menu, with its meaning as tooltip and as
// description for screen readers. A control shows a value and says when it was changed.

import type { ChoiceField, CheckField, Field, NumberField, VectorField } from './fields';
import { h } from './dom';

export interface Control {
  element: HTMLElement;
  /** Shows a value; unless forced, not where the person is just changing it. */
  show(value: unknown, own: unknown, force?: boolean): void;
}

/** `live` while a slider moves. */
export type Change = (value: unknown, live: boolean) => void;

let counter = 0;
const STEPS = 1000;
const AXES = ['x', 'y', 'z'];

export function control(field: Field, path: string, change: Change): Control {
  switch (field.kind) {
    case 'number': return numberControl(field, path, change);
    case 'vector': return vectorControl(field, path, change);
    case 'choice': return choiceControl(field, path, change);
    case 'check': return checkControl(field, path, change);
  }
}

const focused = (element: Element) => document.activeElement === element;

/** Six figures: what a person can have typed, without the tail of binary fractions. */
const written = (value: number) => String(Number(value.toPrecision(6)));

function words(field: Field, id: string) {
  const name = field.unit ? h('span', { class: 'unit' }, field.unit) : null;
  const label = h('label', { for: id, class: 'label' }, field.label, name);
  const tip = h('span', { id: `${id}-tip`, class: 'hidden' }, field.tip);
  return { label, tip };
}

const mark = (element: HTMLElement, value: unknown, own: unknown) =>
  element.classList.toggle('edited', JSON.stringify(value) !== JSON.stringify(own));

class Scale {
  low = 0;
  high = 1;
  constructor(private readonly field: { range?: [number, number]; logarithmic?: boolean; integer?: boolean; min?: number }) {}

  /** False when there is nothing to span a slider from. */
  span(own: unknown): boolean {
    if (this.field.range) [this.low, this.high] = this.field.range;
    else if (typeof own === 'number' && own > 0) [this.low, this.high] = [own / 100, own * 100];
    else return false;
    return true;
  }

  value(position: number): number {
    const t = position / STEPS;
    const raw = this.field.logarithmic
      ? t === 0 && this.field.min === 0 ? 0 : this.low * (this.high / this.low) ** t
      : this.low + t * (this.high - this.low);
    return this.field.integer ? Math.round(raw) : Number(raw.toPrecision(3));
  }

  position(value: number): number {
    const t = this.field.logarithmic
      ? Math.log(Math.max(value, this.low) / this.low) / Math.log(this.high / this.low)
      : (value - this.low) / (this.high - this.low);
    return Math.round(STEPS * Math.min(Math.max(t, 0), 1));
  }
}

function numberControl(field: NumberField, path: string, change: Change): Control {
  const id = `f${counter++}`;
  const { label, tip } = words(field, id);
  const scale = new Scale(field);
  const input = h('input', {
    id, type: 'number', step: 'any', 'data-path': path, placeholder: field.empty, 'aria-describedby': tip.id,
    inputmode: 'decimal', min: field.min, max: field.max,
  });
  const slider = h('input', {
    type: 'range', min: 0, max: STEPS, step: 1, 'aria-label': `${field.label}, slider`, 'aria-describedby': tip.id,
    'data-slider': path,
  });
  let shown: unknown;
  input.addEventListener('change', () => {
    const text = input.value.trim();
    const value = Number(text);
    const outside = !Number.isFinite(value) || value < (field.min ?? -Infinity) || value > (field.max ?? Infinity);
    if (text === '' && field.empty) change(undefined, false);
    else if (text === '' || outside || (field.integer && !Number.isInteger(value))) {
      // Not a value this field can take: it goes back.
      input.value = typeof shown === 'number' ? written(shown) : '';
    } else change(value, false);
  });
  slider.addEventListener('input', () => {
    const value = scale.value(slider.valueAsNumber);
    input.value = written(value);
    change(value, true);
  });
  slider.addEventListener('change', () => change(scale.value(slider.valueAsNumber), false));
  const element = h('div', { class: 'field number', title: field.tip }, label, slider, input, tip);
  return {
    element,
    show(value, own, force = false) {
      shown = value;
      mark(element, value, own);
      slider.hidden = !scale.span(own ?? value);
      element.classList.toggle('bare', slider.hidden);
      if (typeof value === 'number') {
        if (force || !focused(slider)) slider.valueAsNumber = scale.position(value);
        slider.setAttribute('aria-valuetext', `${written(value)} ${field.unit ?? ''}`);
      }
      if (force || !focused(input)) input.value = typeof value === 'number' ? written(value) : '';
    },
  };
}

function vectorControl(field: VectorField, path: string, change: Change): Control {
  const id = `f${counter++}`;
  const tip = h('span', { id: `${id}-tip`, class: 'hidden' }, field.tip);
  const scale = new Scale(field);
  scale.span(null);
  let shown: number[] = [0, 0, 0];
  const parts = AXES.map((axis, i) => {
    const set = (value: number, live: boolean) => {
      if (Number.isFinite(value)) change(shown.map((v, j) => (j === i ? value : v)), live);
    };
    const input = h('input', {
      type: 'number', step: 'any', inputmode: 'decimal', 'aria-label': `${field.label} ${axis}`, 'data-path': `${path}.${i}`,
      'aria-describedby': tip.id,
    });
    const slider = h('input', {
      type: 'range', min: 0, max: STEPS, step: 1, 'aria-label': `${field.label} ${axis}, slider`, 'data-slider': `${path}.${i}`,
    });
    // Near the middle the slider catches, so that zero can be found again.
    const read = () => {
      const value = scale.value(slider.valueAsNumber);
      return Math.abs(value) < 0.02 * scale.high ? 0 : value;
    };
    input.addEventListener('change', () => {
      if (input.value.trim() === '') input.value = written(shown[i] ?? 0);
      else set(Number(input.value), false);
    });
    slider.addEventListener('input', () => {
      input.value = written(read());
      set(read(), true);
    });
    slider.addEventListener('change', () => set(read(), false));
    return { input, slider, element: h('div', { class: 'axis' }, h('span', { 'aria-hidden': 'true' }, axis), input, slider) };
  });
  const element = h('div', { class: 'field vector', role: 'group', 'aria-labelledby': id, title: field.tip },
    h('span', { id, class: 'label' }, field.label, h('span', { class: 'unit' }, field.unit ?? '')),
    h('div', { class: 'axes' }, ...parts.map((p) => p.element)), tip);
  return {
    element,
    show(value, own, force = false) {
      mark(element, value, own);
      shown = Array.isArray(value) ? (value as number[]) : [0, 0, 0];
      parts.forEach(({ input, slider }, i) => {
        if (force || !focused(input)) input.value = written(shown[i] ?? 0);
        if (force || !focused(slider)) slider.valueAsNumber = scale.position(shown[i] ?? 0);
      });
    },
  };
}

function choiceControl(field: ChoiceField, path: string, change: Change): Control {
  const id = `f${counter++}`;
  const { label, tip } = words(field, id);
  const select = h('select', { id, 'data-path': path, 'aria-describedby': tip.id });
  if (field.empty) select.append(h('option', { value: '' }, field.empty));
  for (const [value, meaning] of field.options) select.append(h('option', { value, title: meaning }, value));
  select.addEventListener('change', () => change(select.value || undefined, false));
  const element = h('div', { class: 'field choice' }, label, select, tip);
  return {
    element,
    show(value, own) {
      mark(element, value, own);
      select.value = typeof value === 'string' ? value : '';
      const meaning = field.options.find(([v]) => v === value)?.[1];
      tip.textContent = meaning ? `${field.tip} ${value}: ${meaning}` : field.tip;
      element.title = meaning ? `${field.tip}\n${value}: ${meaning}` : field.tip;
    },
  };
}

function checkControl(field: CheckField, path: string, change: Change): Control {
  const id = `f${counter++}`;
  const { label, tip } = words(field, id);
  const box = h('input', { id, type: 'checkbox', 'data-path': path, 'aria-describedby': tip.id });
  box.addEventListener('change', () => change(box.checked, false));
  const element = h('div', { class: 'field check', title: field.tip }, label, box, tip);
  return {
    element,
    show(value, own) {
      mark(element, value, own);
      box.checked = value === true;
    },
  };
}

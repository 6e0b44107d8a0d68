// Small helpers to build elements and to write numbers.

type Props = Record<string, unknown>;
type Child = Node | string | null | undefined | false;

/** An element; `on…` props are listeners, the rest attributes (false and undefined: left out). */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(props)) {
    if (value === undefined || value === false || value === null) continue;
    if (key.startsWith('on') && typeof value === 'function') {
      element.addEventListener(key.slice(2), value as EventListener);
    } else element.setAttribute(key, value === true ? '' : String(value));
  }
  element.append(...children.filter((c): c is Node | string => c !== null && c !== undefined && c !== false));
  return element;
}

export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no #${id}`);
  return element as T;
}

export const NOTHING = '–';

/** A number for people: three or four figures, never NaN. */
export function figure(value: number | null | undefined, figures = 3): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return NOTHING;
  const size = Math.abs(value);
  if (size === 0) return '0';
  if (size >= 1e5 || size < 1e-3) return value.toExponential(Math.max(figures - 2, 0)).replace('e+', 'e').replace('-', '−');
  const text = size >= 10 ** figures ? value.toFixed(0) : value.toPrecision(figures);
  return text.replace('-', '−');
}

/** With a fixed number of decimals, so that the width stays. */
export function fixed(value: number | null | undefined, decimals: number): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return NOTHING;
  if (Math.abs(value) >= 1e6) return figure(value);
  return value.toFixed(decimals).replace('-', '−');
}

export function percent(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return NOTHING;
  const p = 100 * value;
  return `${fixed(p, p >= 100 ? 0 : p >= 10 ? 1 : 2)} %`;
}

export function cssValue(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** With a capital at the beginning and a full stop at the end. */
export function sentence(text: string): string {
  const full = text.charAt(0).toUpperCase() + text.slice(1);
  return full === '' || /[.!?…]$/.test(full) ? full : `${full}.`;
}

// The page's state in its address: scene name, edits and methods, as compact JSON in base64url
// after the #. Only differences to the built-in values are written, so that links stay short.

import type { Method, Scene, ViewMode } from './types';
import { VIEW_MODES } from './types';
import { differences } from './paths';

export interface LinkState {
  scene: string;
  edits: Record<string, unknown>;
  methods: { id: string; edits: Record<string, unknown> }[];
  view: ViewMode;
}

interface Compact {
  s: string;
  e?: Record<string, unknown>;
  m: (string | [string, Record<string, unknown>])[];
  v?: ViewMode;
}

export function linkState(
  base: Scene,
  scene: Scene,
  methods: Method[],
  own: (id: string) => Method | undefined,
  view: ViewMode,
): LinkState {
  return {
    scene: base.name,
    edits: differences(base, scene),
    methods: methods.map((m) => ({ id: m.id, edits: differences(own(m.id) ?? m, m) })),
    view,
  };
}

export function encode(state: LinkState): string {
  const empty = (edits: object) => Object.keys(edits).length === 0;
  const compact: Compact = {
    s: state.scene,
    m: state.methods.map((m) => (empty(m.edits) ? m.id : [m.id, m.edits])),
  };
  if (!empty(state.edits)) compact.e = state.edits;
  if (state.view !== 'shaded') compact.v = state.view;
  const bytes = new TextEncoder().encode(JSON.stringify(compact));
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/** Null for anything that is not such a link. */
export function decodeLink(hash: string): LinkState | null {
  const text = hash.replace(/^#/, '');
  if (!text) return null;
  try {
    const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
    const bytes = Uint8Array.from(binary, (c) => c.charCodeAt(0));
    const compact = JSON.parse(new TextDecoder().decode(bytes)) as Compact;
    if (typeof compact.s !== 'string' || !Array.isArray(compact.m)) return null;
    const methods = compact.m.slice(0, 4).map((m) =>
      typeof m === 'string' ? { id: m, edits: {} } : { id: String(m[0]), edits: m[1] ?? {} },
    );
    if (methods.length === 0) return null;
    const view = VIEW_MODES.find((v) => v === compact.v) ?? 'shaded';
    return { scene: compact.s, edits: compact.e ?? {}, methods, view };
  } catch {
    return null;
  }
}

// The page's copy of the workbench: which scene and methods are open, how they were edited,
// and undo. At most one `open` or `load` is on its way; edits made meanwhile go out together.

import { particlesOf, type Catalogue, type Method, type Opened, type Scene, type ToWorkbench, type Vec3 } from './types';
import type { LinkState } from './link';
import { applied, clone, getAt, same, setAt } from './paths';

interface Snapshot {
  /** The scene's own values. */
  base: Scene;
  scene: Scene;
  methods: Method[];
}

type Request =
  | { kind: 'open'; scene: string; methods: string[]; after: LinkState | null }
  /** `anew`: not an edit of what is seen but another start, as a link's edits are. */
  | { kind: 'load'; anew?: boolean };

const UNDO_DEPTH = 200;
/** Milliseconds between two loads while a slider moves. */
const LOAD_PAUSE = 90;

export class Bench {
  catalogue: Catalogue | null = null;
  opened: Opened | null = null;
  base: Scene | null = null;
  scene: Scene | null = null;
  methods: Method[] = [];
  playing = true;

  /** What the workbench has; a refused edit goes back to it. */
  private accepted: Snapshot | null = null;
  private undoStack: Snapshot[] = [];
  private redoStack: Snapshot[] = [];
  /** Inside a slider's movement, which counts as one edit. */
  private gesture = false;
  private inFlight: Request | null = null;
  private next: Request | null = null;
  private lastLoad = 0;
  private timer = 0;
  private playSent = -Infinity;

  /** Called after every change of scene or methods on the page. */
  changed: () => void = () => {};

  constructor(private readonly send: (message: ToWorkbench) => void) {}

  ownMethod(id: string): Method | undefined {
    return this.catalogue?.methods.find((m) => m.id === id)?.method;
  }

  // --- requests ---

  openScene(name: string, methods = this.methods.map((m) => m.id), after: LinkState | null = null): void {
    // Edited methods stay edited in the next scene.
    const edited = this.methods.some((m) => !same(m, this.ownMethod(m.id)));
    const carry = after ?? (edited && this.base ? this.methodEdits(name) : null);
    this.request({ kind: 'open', scene: name, methods: methods.slice(0, 4), after: carry });
  }

  openLink(link: LinkState): void {
    this.openScene(link.scene, link.methods.map((m) => m.id), link);
  }

  /** After a lost connection the workbench is a new one: it gets everything again. */
  reconnected(): void {
    this.inFlight = null;
    this.next = null;
    this.accepted = null;
    if (this.scene) this.request({ kind: 'load' });
  }

  private methodEdits(scene: string): LinkState {
    const methods = this.methods.map((m) => ({ id: m.id, edits: { ...m } as Record<string, unknown> }));
    return { scene, edits: {}, methods, view: 'shaded' };
  }

  private request(request: Request): void {
    if (this.inFlight) {
      // An open stands for a choice of scene and must not be lost to a later load of the old one.
      if (!(this.next?.kind === 'open' && request.kind === 'load')) {
        const anew = request.kind === 'load' && this.next?.kind === 'load' && this.next.anew;
        this.next = anew ? { ...request, anew } : request;
      }
      return;
    }
    this.inFlight = request;
    if (request.kind === 'open') {
      this.send({ type: 'open', scene: request.scene, methods: request.methods });
    } else if (this.scene) {
      this.lastLoad = performance.now();
      this.send({ type: 'load', scene: this.scene, methods: this.methods, keep: !request.anew && this.keeps() });
    }
  }

  private load(): void {
    clearTimeout(this.timer);
    const wait = this.lastLoad + LOAD_PAUSE - performance.now();
    const now = () => {
      this.timer = 0;
      this.request({ kind: 'load' });
    };
    if (wait > 0) this.timer = window.setTimeout(now, wait);
    else now();
  }

  /** Positions are carried over unless the particles change or panes would start unequal. */
  private keeps(): boolean {
    const [old, scene] = [this.accepted, this.scene];
    if (!old || !scene || old.base.name !== this.base?.name) return false;
    const grid = (s: Scene) => s.cloth.map((c) => [c.columns, c.rows, c.mesh ? 1 : 0]);
    const ids = (methods: Method[]) => methods.map((m) => m.id);
    // Without its cuts the cloth is whole again only at its start: pieces that fell would be torn back.
    const mended = old.scene.cloth.some((c, i) => !(c.cuts ?? []).every((cut) => scene.cloth[i]?.cuts?.some((kept) => same(kept, cut))));
    if (mended) return false;
    const alone = old.methods.length === 1 && this.methods.length === 1;
    return same(grid(old.scene), grid(scene)) && (alone || same(ids(old.methods), ids(this.methods)));
  }

  // --- answers ---

  /** Takes in a new scene; returns whether the camera should look at it anew. */
  takeOpened(message: Opened): boolean {
    const request = this.inFlight;
    this.inFlight = null;
    this.opened = message;
    const methods = message.panes.map((p) => p.method);
    let fresh = request?.kind === 'load' && request.anew === true;
    if (!this.base || (request?.kind === 'open' && request.scene === message.scene.name)) {
      fresh = true;
      if (this.accepted) this.remember(this.accepted);
      this.base = clone(message.scene);
      this.scene = clone(message.scene);
      this.methods = clone(methods);
      this.playing = true;
      this.accept();
      if (request?.kind === 'open' && request.after) this.applyLink(request.after);
    } else if (!this.next && !this.gesture && this.timer === 0) {
      fresh ||= this.accepted?.base.name !== this.base.name;
      this.scene = clone(message.scene);
      this.methods = clone(methods);
      this.accept();
    } else {
      // There are newer edits here: they stay, and go out next.
      this.accepted = { base: this.base, scene: clone(message.scene), methods: clone(methods) };
    }
    this.sendNext();
    this.changed();
    return fresh;
  }

  /** A refused edit is taken back, and true is returned; other refusals change nothing here. */
  takeRefused(command: string | null): boolean {
    if (command !== this.inFlight?.kind) return false;
    const request = this.inFlight;
    this.inFlight = null;
    if (request?.kind === 'load' && this.accepted) {
      const back = this.accepted;
      if (same(this.undoStack.at(-1), back)) this.undoStack.pop();
      this.base = back.base;
      this.scene = clone(back.scene);
      this.methods = clone(back.methods);
      this.next = null;
    }
    this.sendNext();
    this.changed();
    return true;
  }

  private sendNext(): void {
    const next = this.next;
    this.next = null;
    if (next) this.request(next);
  }

  private accept(): void {
    if (this.base && this.scene) {
      this.accepted = { base: this.base, scene: clone(this.scene), methods: clone(this.methods) };
    }
  }

  private applyLink(link: LinkState): void {
    if (!this.base) return;
    const scene = applied(this.base, link.edits);
    const methods = this.methods.map((m, i) => applied(this.ownMethod(m.id) ?? m, link.methods[i]?.edits ?? {}));
    if (same(scene, this.scene) && same(methods, this.methods)) return;
    this.scene = scene;
    this.methods = methods;
    this.request({ kind: 'load', anew: true });
  }

  // --- edits ---

  /**
   * Sets one value of the scene, and those that follow from it. `live` is a slider on its way; its
   * end is a call without.
   */
  editScene(path: string, value: unknown, live = false, also: [string, unknown][] = []): void {
    if (!this.scene) return;
    if (!live && !this.gesture && same(getAt(this.scene, path), value)) return;
    this.begin(live);
    for (const [at, what] of [[path, value] as [string, unknown], ...also]) setAt(this.scene, at, what);
    const isInput = path === 'gravity' || path === 'air.wind';
    if (isInput) {
      this.send({ type: 'inputs', gravity: this.scene.gravity, wind: this.scene.air.wind });
    }
    // Inputs act at once; the load at the end makes them part of the scene, for resets.
    if (!(isInput && live)) this.load();
    this.changed();
  }

  editMethod(pane: number, key: string, value: unknown, live = false): void {
    const method = this.methods[pane];
    if (!method) return;
    if (!live && !this.gesture && same(method[key], value)) return;
    this.begin(live);
    setAt(method, key, value);
    this.load();
    this.changed();
  }

  /** Cuts the cloth between pairs of particles; false where all of them are cut already. */
  cut(pairs: [number, number][]): boolean {
    if (!this.scene) return false;
    let first = 0;
    const cuts = this.scene.cloth.map((cloth) => {
      const end = first + particlesOf(cloth);
      const own = pairs.filter(([a, b]) => a >= first && b < end).map(([a, b]): [number, number] => [a - first, b - first]);
      first = end;
      const old = cloth.cuts ?? [];
      const known = new Set(old.map(String));
      return [...old, ...own.filter((pair) => !known.has(String(pair)))];
    });
    if (same(cuts, this.scene.cloth.map((c) => c.cuts ?? []))) return false;
    this.begin(false);
    this.scene.cloth.forEach((cloth, i) => {
      if (cuts[i]!.length > 0) cloth.cuts = cuts[i];
    });
    this.load();
    this.changed();
    return true;
  }

  /** Blows in addition to the scene's wind. */
  gust(added: Vec3): void {
    if (!this.scene) return;
    const wind = this.scene.air.wind.map((w, i) => w + added[i]!) as Vec3;
    this.send({ type: 'inputs', gravity: this.scene.gravity, wind });
  }

  setMethods(methods: Method[]): void {
    if (methods.length === 0 || methods.length > 4) return;
    this.begin(false);
    this.methods = clone(methods);
    this.load();
    this.changed();
  }

  /** Back to the values the scene and the methods came with. */
  resetValues(): void {
    if (!this.base) return;
    this.begin(false);
    this.scene = clone(this.base);
    this.methods = this.methods.map((m) => clone(this.ownMethod(m.id) ?? m));
    this.load();
    this.changed();
  }

  get edited(): boolean {
    return !same(this.scene, this.base) || this.methods.some((m) => !same(m, this.ownMethod(m.id)));
  }

  private snapshot(): Snapshot | null {
    if (!this.base || !this.scene) return null;
    return { base: this.base, scene: clone(this.scene), methods: clone(this.methods) };
  }

  private begin(live: boolean): void {
    const now = this.gesture ? null : this.snapshot();
    if (now) this.remember(now);
    this.gesture = live;
  }

  private remember(snapshot: Snapshot): void {
    this.undoStack.push(snapshot);
    if (this.undoStack.length > UNDO_DEPTH) this.undoStack.shift();
    this.redoStack = [];
  }

  get canUndo(): boolean {
    return this.undoStack.length > 0;
  }

  get canRedo(): boolean {
    return this.redoStack.length > 0;
  }

  undo(): void {
    this.travel(this.undoStack, this.redoStack);
  }

  redo(): void {
    this.travel(this.redoStack, this.undoStack);
  }

  private travel(from: Snapshot[], to: Snapshot[]): void {
    const now = this.snapshot();
    const target = from.pop();
    if (!now || !target) return;
    to.push(now);
    this.gesture = false;
    this.base = target.base;
    this.scene = clone(target.scene);
    this.methods = clone(target.methods);
    this.load();
    this.changed();
  }

  // --- transport ---

  play(playing: boolean): void {
    this.playing = playing;
    this.playSent = performance.now();
    this.send({ type: 'play', playing });
    this.changed();
  }

  /** What a report says, unless it may have been written before our last command. */
  hearPlaying(playing: boolean): void {
    if (performance.now() - this.playSent < 500 || playing === this.playing) return;
    this.playing = playing;
    this.changed();
  }
}

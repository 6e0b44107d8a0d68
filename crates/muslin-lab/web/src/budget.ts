// Keeps a headset's time per picture: lowers the substeps, then the grid, and takes both back
// when there is ample room. Every change is told in one sentence.

import type { Bench } from './bench';
import type { Report, Scene } from './types';

/** Milliseconds of a picture at 90 a second. */
export const HEADSET_MS = 11;
/** Reports and pictures looked at before deciding. */
const REPORTS = 5;
const PICTURES = 20;
/** Milliseconds between two changes. */
const PAUSE = 1000;
/** One step of the grid: this share of the cells along each side, and no side shorter than this. */
const COARSER = 0.75;
const FEWEST = 8;
/** A change back about doubles the cost, and must then still be below this share of the budget. */
const ROOM = 0.8;
/** Milliseconds without a change before one is taken back; doubled each time that was too early. */
const FIRST_PATIENCE = 3000;

type Grid = { columns: number; rows: number };

/** The cloth whose grid may change: fabrics weigh the same at every resolution, others do not. */
const scalable = (scene: Scene) =>
  scene.cloth.map((c, i) => ({ c, i })).filter(({ c }) => !c.mesh && !c.particle_mass && c.rows > 1);
const middle = (list: number[]) => [...list].sort((a, b) => a - b)[list.length >> 1] ?? 0;

export class Budget {
  limit = HEADSET_MS;
  /** The last change, for people. */
  note = '';
  private engine: number[] = [];
  private page: number[] = [];
  private lastChange = 0;
  private patience = FIRST_PATIENCE;
  private lastWasRaise = false;
  /** The engine refused what was tried, so nothing more is. */
  private stuck = false;
  /** Substeps and grids before the first change. */
  private own: { substeps: number; grids: Map<number, Grid> } | null = null;

  constructor(private readonly bench: Bench) {}

  /** Another scene: nothing of what was found out about the old one holds. */
  forget(): void {
    this.own = null;
    this.note = '';
    this.stuck = false;
    this.patience = FIRST_PATIENCE;
    this.lastWasRaise = false;
    this.measureAnew();
  }

  /** Figures from before a change say nothing about what comes after it. */
  measureAnew(): void {
    this.engine = [];
    this.page = [];
  }

  hear(report: Report): void {
    if (report.pane === 0 && report.playing && Number.isFinite(report.ms)) this.engine.push(report.ms);
    if (this.engine.length > REPORTS) this.engine.shift();
  }

  /** The time the page spent on one picture. */
  drew(ms: number): void {
    this.page.push(ms);
    if (this.page.length > PICTURES) this.page.shift();
  }

  /** Something was refused; if it was the last change here, this scene is left as it is. */
  refused(now: number): void {
    if (now - this.lastChange < PAUSE) this.stuck = true;
  }

  /** Changes at most one thing, when the figures ask for it. */
  keep(now: number): void {
    const since = now - this.lastChange;
    if (this.stuck || this.engine.length < REPORTS || this.page.length < PICTURES || since < PAUSE) return;
    const [engine, page] = [middle(this.engine), middle(this.page)];
    if (engine > this.limit) {
      if (this.lowerSubsteps() || this.coarsen()) this.lowered(now);
      else this.note = `${engine.toFixed(0)} ms a frame: nothing is left to lower`;
    } else if (page > this.limit) {
      if (this.coarsen()) this.lowered(now);
      else this.note = `${page.toFixed(0)} ms to draw: nothing is left to lower`;
    } else if (2 * Math.max(engine, page) < ROOM * this.limit && since > this.patience && this.raise()) {
      this.lastWasRaise = true;
      this.changed(now);
    }
  }

  /** Gives the scene back what was taken from it. */
  end(): void {
    if (this.own && this.bench.scene) {
      if (this.bench.scene.substeps !== this.own.substeps) this.bench.editScene('substeps', this.own.substeps);
      this.setGrids(this.own.grids);
    }
    this.forget();
  }

  private lowered(now: number): void {
    if (this.lastWasRaise) this.patience *= 2;
    this.lastWasRaise = false;
    this.changed(now);
  }

  private changed(now: number): void {
    this.lastChange = now;
    this.measureAnew();
  }

  private lowerSubsteps(): boolean {
    const scene = this.bench.scene;
    if (!scene || scene.substeps <= 1) return false;
    this.remember(scene);
    return this.setSubsteps(Math.floor(scene.substeps / 2), `to keep ${this.limit} ms`);
  }

  private coarsen(): boolean {
    const scene = this.bench.scene;
    if (!scene) return false;
    this.remember(scene);
    const grids = this.scaled((cells) => Math.round(COARSER * cells));
    return this.setGrids(grids, `to keep ${this.limit} ms`);
  }

  private raise(): boolean {
    const [scene, own] = [this.bench.scene, this.own];
    if (!scene || !own) return false;
    const why = 'since there is room again';
    const finer = this.scaled((cells) => Math.round(cells / COARSER));
    return this.setGrids(finer, why) || this.setSubsteps(Math.min(2 * scene.substeps, own.substeps), why);
  }

  private remember(scene: Scene): void {
    const grids = scalable(scene).map(({ c, i }): [number, Grid] => [i, { columns: c.columns, rows: c.rows }]);
    this.own ??= { substeps: scene.substeps, grids: new Map(grids) };
  }

  /** Every grid with another number of cells across, in the proportions it came with. */
  private scaled(cells: (now: number) => number): Map<number, Grid> {
    const grids = new Map<number, Grid>();
    for (const [i, own] of this.own?.grids ?? []) {
      const now = this.bench.scene?.cloth[i];
      if (!now) continue;
      const smallest = Math.min(1, (FEWEST - 1) / (Math.min(own.columns, own.rows) - 1));
      const share = Math.min(1, Math.max(smallest, cells(now.columns - 1) / (own.columns - 1)));
      const along = (n: number) => 1 + Math.round(share * (n - 1));
      grids.set(i, { columns: along(own.columns), rows: along(own.rows) });
    }
    return grids;
  }

  private setSubsteps(substeps: number, why: string): boolean {
    const old = this.bench.scene?.substeps;
    if (old === undefined || old === substeps) return false;
    this.note = `substeps ${old} → ${substeps} ${why}`;
    this.bench.editScene('substeps', substeps);
    return true;
  }

  private setGrids(grids: Map<number, Grid>, why = ''): boolean {
    const scene = this.bench.scene;
    const different = [...grids].filter(([i, g]) => scene?.cloth[i]?.columns !== g.columns || scene?.cloth[i]?.rows !== g.rows);
    const [first] = different;
    if (!first || !scene) return false;
    const was = scene.cloth[first[0]]!;
    this.note = `grid ${was.columns} × ${was.rows} → ${first[1].columns} × ${first[1].rows} ${why}`;
    const edits = different.flatMap(([i, g]): [string, unknown][] =>
      [[`cloth.${i}.columns`, g.columns], [`cloth.${i}.rows`, g.rows]]);
    // The first may be what it was, and then the bench would take it for no edit at all.
    const start = edits.findIndex(([path, value]) => value !== (path.endsWith('columns') ? was.columns : was.rows));
    const [lead] = edits.splice(Math.max(start, 0), 1);
    this.bench.editScene(lead![0], lead![1], false, edits);
    return true;
  }
}

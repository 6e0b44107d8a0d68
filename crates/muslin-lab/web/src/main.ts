// Puts the page together: socket, workbench, stage, hands, panel and numbers.

import './style.css';
import { Bench } from './bench';
import { Chrome } from './chrome';
import { Colliders } from './colliders';
import { connect } from './connect';
import { byId } from './dom';
import { Hands } from './hands';
import { decodeLink, encode, linkState } from './link';
import { Notices } from './notices';
import { Numbers } from './numbers';
import { Panel } from './panel';
import { Plots } from './plots';
import { Clip, glb } from './exports';
import { crossedEdges, Sweeps, type Point, type Tool } from './sweeps';
import type { FromWorkbench, Opened, Report, Scene, ToWorkbench, ViewMode } from './types';
import { View } from './view';
import { Vr } from './vr';

const DEFAULT_SCENE = 'bunting';
const DEFAULT_METHOD = 'muslin';

const canvas = byId<HTMLCanvasElement>('canvas');
const notices = new Notices();
const bench = new Bench((message) => socket.send(message));
const view = new View(canvas);
const numbers = new Numbers();
const plots = new Plots();
const panel = new Panel(bench, (pane) => socket.send({ type: 'save', pane }));
/** Sets of frames received and not yet acknowledged; each is, once a newer picture is drawn. */
let sets = 0;
/** The scene name the numbers and plots are about, and its methods. */
let shown = '';

// Before the hands, which hear of a press only where there is no body.
const colliders = new Colliders(canvas, view, (collider, position, rotation) =>
  socket.send({ type: 'collider', collider, position, rotation }));
// Before the hands: a sweep takes the pointer from them.
const sweeps: Sweeps = new Sweeps(canvas, view, (x, y) => hands.paneAt(x, y)?.pane ?? null, {
  cut: cutAlong,
  gust(added) {
    giveAir();
    bench.gust(added);
  },
});
const clip = new Clip();

const hands = new Hands(canvas, view, {
  pull: (particle, target) => socket.send({ type: 'pull', particle, target, stiffness: pullStiffness(bench.scene) }),
  release: () => socket.send({ type: 'release' }),
  togglePin(particle) {
    const held = !view.pins.includes(particle);
    socket.send({ type: 'pin', particle, held });
    view.setPin(particle, held);
  },
});

const chrome = new Chrome({
  playPause: () => bench.play(!bench.playing),
  step() {
    if (bench.playing) bench.play(false);
    socket.send({ type: 'step' });
  },
  reset,
  view: setView,
  frame: () => view.fitCamera(),
  undo: () => bench.undo(),
  redo: () => bench.redo(),
  ownValues: () => bench.resetValues(),
  copyLink: () => void copyLink(),
  picture: () => void savePicture(),
  clip: toggleClip,
  shape: () => void saveShape(),
  tool: setTool,
  theme() {
    view.theme();
    plots.build();
  },
});

const vr = new Vr(byId<HTMLButtonElement>('vr'), view, bench, colliders, {
  pull: (hand, particle, target) => socket.send({ type: 'pull', hand, particle, target, stiffness: pullStiffness(bench.scene) }),
  release: (hand) => socket.send({ type: 'release', hand }),
  reset,
  complain: (message) => notices.toast(message, 'error'),
});

function reset(): void {
  socket.send({ type: 'reset' });
  plots.open(bench.methods.length);
  notices.clear();
}

const socket = connect({
  opened: () => notices.banner(null),
  lost: (pause) => notices.banner(`Connection to the engine lost. Trying again in ${pause < 1 ? 'a moment' : `${pause} s`} …`),
  failed: (reason) => notices.banner(reason),
  message: take,
  binary(message) {
    if (message.kind === 'triangles') view.setTriangles(message.indices);
    else if (message.kind === 'edges') view.setEdges(message.indices);
    else if (message.kind === 'springs') view.setSprings(message.shear, message.indices);
    else if (message.kind === 'bent') colliders.bend(message.collider, message.vertices);
    else {
      view.take(message.frame);
      if (message.frame.pane === bench.opened!.panes.length - 1) sets++;
    }
  },
});

function take(message: FromWorkbench): void {
  const hear = listeners.get(message.type);
  listeners.delete(message.type);
  hear?.(message);
  switch (message.type) {
    case 'catalogue': {
      bench.catalogue = message;
      byId('version').textContent = `${message.version} · ${socket.name}`;
      byId('version').title = `Version ${message.version}; the ${socket.name} engine is running`;
      sets = 0;
      if (bench.scene) bench.reconnected();
      else openFromAddress();
      panel.refresh();
      return;
    }
    case 'opened': return takeOpened(message);
    case 'report': return takeReport(message);
    case 'bodies': return colliders.follow(message.poses);
    case 'saved': return download(message.name, new Blob([message.text], { type: 'text/plain' }));
    case 'refused': {
      notices.toast(message.message, 'error');
      vr.refused(message.message);
      panel.refresh(bench.takeRefused(message.command));
      if (!bench.scene && bench.catalogue) bench.openScene(DEFAULT_SCENE, [DEFAULT_METHOD]);
    }
  }
}

function openFromAddress(): void {
  const link = decodeLink(location.hash);
  if (link) {
    setView(link.view);
    bench.openLink(link);
    return;
  }
  // The program opens the page at #scene=NAME when it is told one.
  const wanted = /^#scene=([\w-]+)$/.exec(location.hash)?.[1] ?? DEFAULT_SCENE;
  const names = bench.catalogue?.scenes.map((s) => s.name) ?? [];
  bench.openScene(names.includes(wanted) ? wanted : names[0] ?? DEFAULT_SCENE, [DEFAULT_METHOD]);
}

function takeOpened(message: Opened): void {
  hands.letGo();
  const fresh = bench.takeOpened(message);
  view.open(message, fresh);
  colliders.open(message.colliders);
  vr.opened(message, fresh);
  const methods = message.panes.map((p) => p.method);
  // While a value is being changed the lines go on; another scene or pane starts them anew.
  const about = JSON.stringify([message.scene.name, methods.map((m) => m.id)]);
  if (about !== shown || fresh) {
    shown = about;
    plots.open(methods.length);
    notices.clear();
  }
  numbers.open(methods, (m) => JSON.stringify(m) === JSON.stringify(bench.ownMethod(m.id)));
  numbers.place(view.rects());
  chrome.opened(message);
}

function takeReport(report: Report): void {
  bench.hearPlaying(report.playing);
  numbers.take(report, view.panes[report.pane]?.apart ?? null);
  plots.take(report);
  notices.take(report, bench.methods.length);
  view.seeLowest(report.lowest, report.pane);
  vr.hear(report);
  if (report.pane === 0) chrome.time(report.time);
  chrome.legend(view.mode, numbers.reports);
}

bench.changed = () => {
  panel.refresh();
  chrome.playing(bench.playing);
};

function setTool(tool: Tool): void {
  sweeps.tool = tool;
  chrome.tool(tool);
}

function cutAlong(stroke: Point[], pane: number): void {
  const { triangles, edges } = view;
  const crossed = crossedEdges(stroke, hands.allOnScreen(pane), triangles, edges);
  if (!bench.cut(crossed)) notices.toast('The stroke crossed no cloth');
}

/** Wind does nothing in a scene without air. */
function giveAir(): void {
  const air = bench.scene?.air;
  if (!air || air.density !== 0 || air.drag !== 0) return;
  bench.editScene('air.density', 1.2);
  notices.toast('The scene had no air: it has 1.2 kg/m³ now, so that wind can blow');
}

function setView(mode: ViewMode): void {
  view.setMode(mode);
  chrome.view(mode);
  chrome.legend(mode, numbers.reports);
}

/** The chosen stiffness, or more where the cloth would hang too far below the cursor. */
function pullStiffness(scene: Scene | null): number {
  const chosen = panel.dragStiffness;
  if (!scene) return chosen;
  const particles = bench.opened?.panes[0]?.particles ?? 0;
  let mass = 0;
  for (const c of scene.cloth) {
    const density = (c.material as { density?: number } | undefined)?.density ?? 0.15;
    const own = c.mesh ? particles / scene.cloth.length : c.columns * c.rows;
    mass = Math.max(mass, c.particle_mass ? c.particle_mass * own : density * c.width * c.height);
  }
  const weight = mass * Math.hypot(...scene.gravity);
  return Math.max(chosen, ((chosen / 200) * weight) / (0.03 * view.size));
}

async function copyLink(): Promise<void> {
  if (!bench.base || !bench.scene) return;
  const state = linkState(bench.base, bench.scene, bench.methods, (id) => bench.ownMethod(id), view.mode);
  history.replaceState(null, '', `#${encode(state)}`);
  try {
    await navigator.clipboard.writeText(location.href);
    notices.toast('Link copied');
  } catch {
    // The clipboard may be closed to pages; the address bar has the link all the same.
    notices.toast('The link is in the address bar');
  }
}

async function savePicture(): Promise<void> {
  const blob = await view.picture();
  if (blob) download(`muslin-${bench.base?.name ?? 'lab'}.png`, blob);
}

function toggleClip(): void {
  if (clip.recording) clip.stop();
  else {
    const refusal = clip.start(canvas, (film) => download(`muslin-${bench.base?.name ?? 'lab'}.webm`, film));
    if (refusal) notices.toast(refusal, 'error');
    // A paused scene draws nothing, and a clip needs a first picture.
    view.touch();
  }
  chrome.clip(clip.recording);
}

async function saveShape(): Promise<void> {
  const { triangles, edges } = view;
  const shapes = view.panes.flatMap((pane, i) =>
    pane.frame ? [{ name: bench.methods[i]?.id ?? `pane ${i + 1}`, frame: pane.frame, triangles, edges }] : []);
  if (shapes.length > 0) download(`muslin-${bench.base?.name ?? 'lab'}.glb`, await glb(shapes, 1.2 * view.size));
}

function download(name: string, content: Blob): void {
  const a = document.createElement('a');
  a.href = URL.createObjectURL(content);
  a.download = name;
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 60_000);
}

addEventListener('hashchange', () => {
  if (bench.catalogue) openFromAddress();
});

new ResizeObserver(() => {
  view.resize();
  numbers.place(view.rects());
  // At once, since resizing empties the canvas.
  view.draw();
}).observe(canvas);

/** Called by the window, or by the headset while there is one. */
function loop(time: number, frame?: XRFrame): void {
  if (vr.active && frame) vr.draw(time, frame);
  else if (!vr.active) {
    if (!sweeps.active) hands.update();
    sweeps.update();
    if (view.draw()) numbers.drew(view.cost);
  }
  for (; sets > 0; sets--) socket.send({ type: 'taken' });
}
view.renderer.setAnimationLoop(loop);
chrome.view(view.mode);
chrome.tool(sweeps.tool);

/** Who wants to hear the next message of a type. */
const listeners = new Map<string, (message: FromWorkbench) => void>();

/** Positions of the first pane after so many frames from the start; the simulation stays paused. */
async function fromStart(frames: number): Promise<Float32Array> {
  const dt = bench.scene?.dt ?? 0;
  if (bench.playing) bench.play(false);
  const opened = new Promise((resolve) => listeners.set('opened', resolve));
  socket.send({ type: 'reset' });
  await opened;
  const old = view.panes[0]?.frame;
  for (let i = 0; i < frames; i++) socket.send({ type: 'step' });
  const there = () => view.panes[0]?.frame !== old && Math.abs((view.panes[0]?.frame?.time ?? NaN) - frames * dt) < 1e-3 * dt;
  // Slow machines take as long as they take; what counts is that frames go on arriving.
  let [seen, since] = [view.panes[0]?.frame, performance.now()];
  while (!there() && performance.now() - since < 30_000) {
    await new Promise((next) => setTimeout(next, 5));
    if (view.panes[0]?.frame !== seen) [seen, since] = [view.panes[0]?.frame, performance.now()];
  }
  if (!there()) throw new Error(`the frame at ${frames * dt} s did not come`);
  return view.panes[0]!.frame!.positions;
}

/** For tests and the curious. */
declare global {
  interface Window { lab: unknown }
}
window.lab = {
  frames: () => view.drawn,
  time: (pane = 0) => view.panes[pane]?.frame?.time ?? NaN,
  send: (message: ToWorkbench) => socket.send(message),
  listen: (type: string, hear: (message: FromWorkbench) => void) => listeners.set(type, hear),
  fromStart,
  positions: (pane = 0) => view.panes[pane]?.frame?.positions ?? new Float32Array(),
  pick: (x: number, y: number) => hands.pick(x, y, 14)?.particle ?? null,
  /** Structural, shear and bend springs that are drawn. */
  springs: (pane = 0) => view.panes[pane]?.drawnSprings ?? [],
  particleOnScreen: (i: number, pane = 0) => hands.onScreen(i, pane),
  reports: numbers.reports,
  apart: (pane = 0) => view.panes[pane]?.apart ?? null,
  get vr() {
    return vr.facts;
  },
  colliders,
  get floor() {
    return view.floor;
  },
  /** Draw calls and triangles of the last picture, shadows included. */
  get drawing() {
    const { calls, triangles } = view.renderer.info.render;
    return { calls, triangles };
  },
  get state() {
    const { base, scene, methods, playing, opened, catalogue } = bench;
    const { hovered, pulled } = hands;
    return { tool: sweeps.tool, gust: sweeps.gust.toArray(), blown: sweeps.blown, recording: clip.recording, base, scene, methods, playing, opened, catalogue, hovered, pulled, pins: view.pins, view: view.mode, connected: socket.connected, engine: socket.name };
  },
};

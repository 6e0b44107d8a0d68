// A stand-in for the engine that speaks the lab's protocol: simple Verlet cloth, a few scenes.
// For working on the page without the Rust program: node tests/mock-server.mjs [port]

import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { WebSocketServer } from 'ws';

const DIST = fileURLToPath(new URL('../dist/', import.meta.url));
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' };

const method = (id, integrator, more = {}) => ({
  id, integrator, springs: 'scene', weak_springs: 'implicit', jacobian: 'psd', guess: 'zero', levels: 4,
  filter: 'minimum-variance', correlation: 0.95, solver: 'conjugate-gradient', sweeps: 6, order: 'colours',
  preconditioner: 'block-jacobi', coarsening: 'quincunx', tolerance: 1e-4, max_iterations: 500, newton: 1,
  momentum: 'none', modes: 'linear', alpha: 0.5, beta: 0.5, layers: 'planar', regions: 1, internal: 'none', ...more,
});
const METHODS = [
  ['muslin', 'the default', method('muslin', 'bdf2', { solver: 'hierarchy' })],
  ['implicit-euler', 'semi-definite Jacobian, conjugate gradients', method('implicit-euler', 'backward-euler')],
  ['kim-2006', 'smoothed Jacobian, 6 block Gauss–Seidel sweeps', method('kim-2006', 'backward-euler', { solver: 'gauss-seidel', jacobian: 'smoothed' })],
  ['xpbd', 'extended position-based dynamics', method('xpbd', 'xpbd', { sweeps: 20 })],
  ['meshless', 'shape matching', method('meshless', 'shape-matching')],
  ['symplectic-euler', 'explicit', method('symplectic-euler', 'symplectic-euler')],
].map(([id, about, m]) => ({ id, about, method: m }));

const cloth = (more) => ({
  name: 'cloth', columns: 32, rows: 32, width: 1, height: 1, origin: [0, 0, 0], across: [1, 0, 0], down: [0, 0, 1],
  velocity: [0, 0, 0], spin: [0, 0, 0], material: { density: 0.2, stretch: 5000, bending: 1e-5 },
  springs: { structural: 0, shear: 0, bend: 0, type1: 0, type2: 0, structural_damping: 0, shear_damping: 0, bend_damping: 0, relative_damping: 0, tension_only: false, hinge: 0 },
  turning: { stiffness: 0, damping: 0, law: 'sine' }, absolute_damping: 0, pins: [{ at: [[0, 0], [1, 0]] }], ...more,
});
const scene = (name, about, cloths, air = {}) => ({
  name, about, dt: 1 / 60, substeps: 1, seconds: 5, gravity: [0, -9.81, 0],
  air: { wind: [0, 0, 0], gust: [0, 0, 0], gust_period: 1, density: 0, drag_coefficient: 1.2, lift_coefficient: 0.4, drag: 0, ...air },
  cloth: cloths,
});
const SCENES = [
  scene('bunting', 'pennants of five fabrics on a line in a gusty wind',
    ['cotton', 'silk', 'denim', 'wool', 'leather'].map((fabric, i) => cloth({
      name: fabric, fabric, material: {}, columns: 14, rows: 16, width: 0.5, height: 0.6, down: [0, -1, 0], origin: [0.6 * i - 1.5, 2, 0],
      pins: [{ place: 'first-row' }],
    })), { wind: [1, 0, 3], gust: [0, 0, 2], density: 1.2 }),
  scene('hang', '2 m square of 0.2 kg/m², held at two corners, falling from the horizontal',
    [cloth({ columns: 40, rows: 40, width: 2, height: 2, origin: [-1, 0, 0] })]),
  scene('curtain', 'a curtain on a rod', [cloth({ columns: 48, rows: 32, width: 2, height: 1.5, down: [0, -1, 0], pins: [{ place: 'first-row' }] })]),
  scene('chain', 'a chain held at both ends', [cloth({ columns: 24, rows: 1, width: 1.5, particle_mass: 0.01 })]),
  { ...scene('ball', 'a sheet held at two corners over a ball', [cloth({ columns: 24, rows: 24, origin: [-0.5, 0.5, -0.5] })]), ball: 0.3 },
  { ...scene('heavy', 'says that it takes 20 ms for each of its four substeps', [cloth({ columns: 24, rows: 24, down: [0, -1, 0], pins: [{ place: 'first-row' }] })]), substeps: 4, slow: 20 / 576 },
];

/** A ball as a collider: rings from pole to pole. */
function ball(radius) {
  const [rings, around] = [16, 24];
  const vertices = [], triangles = [];
  for (let j = 0; j <= rings; j++) for (let i = 0; i < around; i++) {
    const [a, b] = [Math.PI * j / rings, 2 * Math.PI * i / around];
    vertices.push(radius * Math.sin(a) * Math.cos(b), radius * Math.cos(a), radius * Math.sin(a) * Math.sin(b));
  }
  for (let j = 0; j < rings; j++) for (let i = 0; i < around; i++) {
    const at = (k, l) => k * around + l % around;
    triangles.push(at(j, i), at(j, i + 1), at(j + 1, i + 1), at(j, i), at(j + 1, i + 1), at(j + 1, i));
  }
  return { position: [0, 0, 0], rotation: [0, 0, 0, 1], vertices, triangles, movable: true };
}

class World {
  constructor(scene, count) {
    this.scene = scene;
    this.x = [];
    this.edges = [];
    this.triangles = [];
    this.pins = new Set();
    this.colliders = scene.ball ? [ball(scene.ball)] : [];
    for (const c of scene.cloth) {
      const first = this.x.length / 3;
      const at = (i, j) => first + j * c.columns + i;
      for (let j = 0; j < c.rows; j++) for (let i = 0; i < c.columns; i++) {
        const [u, v] = [c.width * i / Math.max(c.columns - 1, 1), c.height * j / Math.max(c.rows - 1, 1)];
        for (let k = 0; k < 3; k++) this.x.push(c.origin[k] + u * c.across[k] + v * c.down[k] + (k === 2 ? 1e-3 * Math.sin(9 * u + 7 * v) : 0));
        if (i) this.edges.push(at(i - 1, j), at(i, j));
        if (j) this.edges.push(at(i, j - 1), at(i, j));
        if (i && j) this.triangles.push(at(i - 1, j - 1), at(i - 1, j), at(i, j), at(i - 1, j - 1), at(i, j), at(i, j - 1));
      }
      for (const pin of c.pins) {
        for (const [u, v] of pin.at ?? []) this.pins.add(at(Math.round(u * (c.columns - 1)), Math.round(v * (c.rows - 1))));
        if (pin.place) for (let i = 0; i < c.columns; i++) this.pins.add(at(i, 0));
      }
    }
    this.n = this.x.length / 3;
    this.rest = this.lengths(this.x);
    this.start = Float64Array.from(this.x);
    this.panes = Array.from({ length: count }, () => ({ x: this.start.slice(), old: this.start.slice(), time: 0 }));
    this.startPins = new Set(this.pins);
  }
  lengths(x) {
    const out = [];
    for (let e = 0; e < this.edges.length; e += 2) out.push(Math.hypot(...[0, 1, 2].map((k) => x[3 * this.edges[e] + k] - x[3 * this.edges[e + 1] + k])));
    return out;
  }
  step(p, sweeps, inputs, pulls) {
    const { x, old } = p;
    const h = this.scene.dt;
    const gust = Math.sin(6.28 * p.time);
    for (let i = 0; i < this.n; i++) {
      if (this.pins.has(i)) { for (let k = 0; k < 3; k++) old[3 * i + k] = x[3 * i + k]; continue; }
      for (let k = 0; k < 3; k++) {
        const a = inputs.gravity[k] + this.scene.air.density * (inputs.wind[k] + gust * this.scene.air.gust[k]);
        const v = (x[3 * i + k] - old[3 * i + k]) * 0.985;
        old[3 * i + k] = x[3 * i + k];
        x[3 * i + k] += v + h * h * a;
        for (const pull of pulls.values()) if (pull.particle === i) x[3 * i + k] += 0.4 * (pull.target[k] - x[3 * i + k]);
      }
    }
    for (let s = 0; s < sweeps; s++) for (let e = 0; e < this.edges.length; e += 2) {
      const [a, b] = [this.edges[e], this.edges[e + 1]];
      const d = [0, 1, 2].map((k) => x[3 * b + k] - x[3 * a + k]);
      const r = Math.hypot(...d) || 1e-9;
      const [wa, wb] = [this.pins.has(a) ? 0 : 1, this.pins.has(b) ? 0 : 1];
      if (wa + wb === 0) continue;
      const c = (r - this.rest[e / 2]) / r / (wa + wb);
      for (let k = 0; k < 3; k++) { x[3 * a + k] += wa * c * d[k]; x[3 * b + k] -= wb * c * d[k]; }
    }
    for (const { position } of this.colliders) for (let i = 0; i < this.n; i++) {
      const out = [0, 1, 2].map((k) => x[3 * i + k] - position[k]);
      const r = Math.hypot(...out) || 1e-9;
      if (r < this.scene.ball + 0.01) for (let k = 0; k < 3; k++) x[3 * i + k] = position[k] + (this.scene.ball + 0.01) * out[k] / r;
    }
    p.time += h;
  }
  frame(pane) {
    const { x, old, time } = this.panes[pane];
    const n = this.n;
    const buffer = Buffer.alloc(24 + 4 * Math.ceil(18 * n / 4));
    [3, pane, n, 0].forEach((v, i) => buffer.writeUInt32LE(v, 4 * i));
    buffer.writeDoubleLE(time, 16);
    const normals = new Float64Array(3 * n);
    const t = this.triangles;
    for (let i = 0; i < t.length; i += 3) {
      const [a, b, c] = [3 * t[i], 3 * t[i + 1], 3 * t[i + 2]];
      const u = [0, 1, 2].map((k) => x[b + k] - x[a + k]);
      const v = [0, 1, 2].map((k) => x[c + k] - x[a + k]);
      const m = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
      for (const q of [a, b, c]) for (let k = 0; k < 3; k++) normals[q + k] += m[k];
    }
    const strain = new Float64Array(n);
    this.lengths(x).forEach((r, e) => {
      const s = Math.max(r / this.rest[e] - 1, 0);
      for (const q of [this.edges[2 * e], this.edges[2 * e + 1]]) strain[q] = Math.max(strain[q], s);
    });
    const speed = Float64Array.from({ length: n }, (_, i) => Math.hypot(...[0, 1, 2].map((k) => x[3 * i + k] - old[3 * i + k])));
    const fastest = Math.max(...speed, 1e-9);
    for (let i = 0; i < n; i++) {
      const length = Math.hypot(normals[3 * i], normals[3 * i + 1], normals[3 * i + 2]) || 1;
      for (let k = 0; k < 3; k++) {
        buffer.writeFloatLE(x[3 * i + k], 24 + 12 * i + 4 * k);
        buffer.writeInt8(Math.round(127 * normals[3 * i + k] / length), 24 + 12 * n + 4 * i + k);
      }
      buffer[24 + 16 * n + i] = Math.min(255, 255 * strain[i] / 0.2);
      buffer[24 + 17 * n + i] = 255 * speed[i] / fastest;
    }
    this.facts = { strain: Math.max(...strain), speed: fastest / this.scene.dt };
    return buffer;
  }
}

function serve(socket) {
  const send = (message) => socket.send(JSON.stringify(message));
  const pulls = new Map();
  let world = null, methods = [], playing = true, onTheWay = 0, inputs = null, ticks = 0, once = false;
  send({ type: 'catalogue', version: 'mock', scenes: SCENES.map(({ name, about }) => ({ name, about })), methods: METHODS,
    fabrics: ['cotton', 'silk', 'denim', 'wool', 'leather'].map((name) => ({ name, about: `${name}, as measured` })) });
  const words = (kind, list, per) => {
    const b = Buffer.alloc(8 + 4 * list.length);
    b.writeUInt32LE(kind, 0);
    b.writeUInt32LE(list.length / per, 4);
    list.forEach((v, i) => b.writeUInt32LE(v, 8 + 4 * i));
    socket.send(b);
  };
  const open = (scene, chosen, keep) => {
    const next = new World(scene, chosen.length);
    if (keep && world?.n === next.n) {
      next.panes = next.panes.map((p, i) => world.panes[i] ?? p);
      next.pins = world.pins;
    }
    world = next;
    methods = chosen;
    inputs = { gravity: scene.gravity, wind: scene.air.wind };
    if (!keep) pulls.clear();
    onTheWay = 0;
    once = true;
    const axis = (k, f) => f(...Array.from({ length: world.n }, (_, i) => world.start[3 * i + k]));
    send({ type: 'opened', scene, pins: [...world.pins], dt: scene.dt, substeps: scene.substeps, colliders: world.colliders,
      size: [[0, 1, 2].map((k) => axis(k, Math.min)), [0, 1, 2].map((k) => axis(k, Math.max))],
      panes: methods.map((m) => ({ method: m, particles: world.n, springs: world.rest.length, hinges: 0, turns: 0, triangles: world.triangles.length / 3, limit: null })) });
    words(1, world.triangles, 3);
    words(2, world.edges, 2);
  };
  socket.on('message', (data) => {
    const m = JSON.parse(data.toString());
    if (m.type === 'open') {
      const scene = SCENES.find((s) => s.name === m.scene);
      const chosen = m.methods.map((id) => METHODS.find((x) => x.id === id)?.method);
      if (!scene || chosen.some((c) => !c)) return send({ type: 'refused', command: m.type, message: `no such scene or method: ${m.scene}` });
      playing = true;
      open(structuredClone(scene), structuredClone(chosen), false);
    } else if (m.type === 'load') {
      if (!(m.scene.dt > 0 && m.scene.dt < 1)) return send({ type: 'refused', command: m.type, message: `scene.dt = ${m.scene.dt}: must be between 0 and 1` });
      open(m.scene, m.methods, m.keep);
    } else if (m.type === 'play') playing = m.playing;
    else if (m.type === 'step') once = true, world.panes.forEach((p, i) => world.step(p, 4 + 8 * i, inputs, pulls));
    else if (m.type === 'reset') {
      for (const p of world.panes) p.x.set(world.start), p.old.set(world.start), p.time = 0;
      once = true;
    } else if (m.type === 'inputs') inputs = m;
    else if (m.type === 'pull') pulls.set(m.hand ?? 0, m);
    else if (m.type === 'release') pulls.delete(m.hand ?? 0);
    else if (m.type === 'collider') Object.assign(world.colliders[m.collider], { position: m.position, rotation: m.rotation });
    else if (m.type === 'pin') world.pins[m.held ? 'add' : 'delete'](m.particle);
    else if (m.type === 'taken') onTheWay = Math.max(0, onTheWay - 1);
  });
  const timer = setInterval(() => {
    if (!world) return;
    const began = performance.now();
    if (playing) world.panes.forEach((p, i) => world.step(p, 16 - 4 * i, inputs, pulls));
    const { slow, substeps } = world.scene;
    const ms = slow ? slow * substeps * world.n : performance.now() - began;
    const report = ticks++ % 6 === 0;
    if (onTheWay >= 2 || !(playing || once)) { if (!report) return; } else {
      once = false;
      onTheWay++;
      world.panes.forEach((_, i) => socket.send(world.frame(i)));
    }
    if (report) world.panes.forEach((p, i) => send({
      type: 'report', pane: i, time: p.time, playing, rate: playing ? (i === 1 ? 0.8 : 1) : 0, ms: ms / world.panes.length, stages: { forces: 0, solve: 0, rest: 0 },
      energy: { kinetic: 1 + Math.sin(p.time), elastic: 0.2, gravity: -3 - i, total: -1.8 + Math.sin(p.time) - i },
      max_strain: world.facts?.strain ?? 0, mean_strain: (world.facts?.strain ?? 0) / 9, max_speed: world.facts?.speed ?? 0,
      lowest: Math.min(...Array.from({ length: world.n }, (_, q) => p.x[3 * q + 1])), iterations: 24 + i, residual: i === 2 ? null : 3.2e-5,
      stiffness_number: 42, limit: i === 1 ? 10 : null, error: methods.length > 1 ? 0.02 * i : null,
      warnings: i === 1 ? [{ kind: 'not-converged', remedy: 'the linear solver stopped above its tolerance, so the cloth may look softer than it is: raise method.max_iterations' }] : [],
    }));
  }, 1000 / 60);
  socket.on('close', () => clearInterval(timer));
}

/** Starts the mock; resolves with its server. */
export function start(port = 0) {
  const server = createServer(async (request, response) => {
    const path = normalize(new URL(request.url, 'http://x').pathname);
    try {
      const file = join(DIST, path === '/' ? 'index.html' : path);
      const body = await readFile(file);
      response.writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'application/octet-stream' }).end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  const sockets = new WebSocketServer({ server, path: '/socket' });
  sockets.on('connection', serve);
  return new Promise((resolve) => server.listen(port, '127.0.0.1', () => resolve(server)));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const server = await start(Number(process.argv[2] ?? 4178));
  console.log(`http://127.0.0.1:${server.address().port}/`);
}

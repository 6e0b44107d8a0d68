// What a bare step costs as WebAssembly and natively, in one run, on one thread:
//   node bench/wasm.mjs [MUSLIN] [METHOD] [SCENE/SIZE …] (npm run bench)
// MUSLIN is the program, by default ../../../target/release/muslin. The figures of the native engine are those of
// `muslin bench`; the same is done here to the other: Kim's cloth is timed in the middle of its fall,
// for the fastest of up to 400 steps. The machine's mood changes: both are measured twice, in turn.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { WasmEngine } from '../src/wasm.js';

const file = (path) => fileURLToPath(new URL(path, import.meta.url));
const [program = file('../../../../target/release/muslin'), method = 'kim-2006', ...places] = process.argv.slice(2);
if (places.length === 0) places.push('kim-2006-fall/80', 'kim-2006-fall/160', 'hang/80', 'hang/160');
const ROUNDS = 2;
// As in `muslin bench`.
const FALLING = 600;
const WARM_UP = 5;
const MOST_MS = 1500;
const MOST_SAMPLES = 400;

const wasm = readFileSync(file('../wasm/muslin.wasm'));

/** The fastest step of the engine as WebAssembly. [ms] */
async function inWasm(name, size) {
  const engine = await WasmEngine.load(wasm);
  const catalogue = JSON.parse(engine.messages()[0]);
  engine.receive(JSON.stringify({ type: 'open', scene: name, methods: [method] }));
  const opened = engine.messages().map((m) => typeof m === 'string' && JSON.parse(m)).find((m) => m.type === 'opened');
  const { scene } = opened;
  scene.substeps = 1;
  for (const cloth of scene.cloth) {
    cloth.columns = cloth.rows = size;
    // Kim's constants are for unit spacing.
    if (cloth.springs.type1 > 0) cloth.width = cloth.height = size - 1;
  }
  const load = (id, keep) => {
    const chosen = catalogue.methods.find((m) => m.id === id).method;
    engine.receive(JSON.stringify({ type: 'load', scene, methods: [chosen], keep }));
    const refused = engine.messages().find((m) => typeof m === 'string' && m.includes('"refused"'));
    if (refused) throw new Error(refused);
  };
  const step = () => {
    const begun = performance.now();
    engine.exports.bare_frame();
    return performance.now() - begun;
  };
  load('kim-2006', false);
  if (name.startsWith('kim')) for (let i = 0; i < FALLING; i++) step();
  load(method, true);
  for (let i = 0; i < WARM_UP; i++) step();
  const times = [];
  for (let sum = 0; times.length < MOST_SAMPLES && sum < MOST_MS; sum += times.at(-1)) times.push(step());
  return Math.min(...times);
}

/** The fastest step of the native engine. [ms] */
function natively(name, size) {
  const folder = mkdtempSync(join(tmpdir(), 'muslin-bench-'));
  try {
    const list = join(folder, 'bench.json');
    execFileSync(program, ['bench', '--filter', `${name}/${size}/${method}`, '--threads', '1', '--json', list], { stdio: ['ignore', 'ignore', 'inherit'] });
    const { cells } = JSON.parse(readFileSync(list, 'utf8'));
    return cells.find((c) => c.scene === name && c.size === size && c.method === method).ms_per_step.min;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

console.log(`| ${method} | native | WebAssembly | ratio |\n|---|---|---|---|`);
for (const place of places) {
  const [name, size] = [place.split('/')[0], Number(place.split('/')[1])];
  let [native, own] = [Infinity, Infinity];
  for (let round = 0; round < ROUNDS; round++) {
    native = Math.min(native, natively(name, size));
    own = Math.min(own, await inWasm(name, size));
  }
  console.log(`| ${name} ${size}² | ${native.toFixed(3)} ms | ${own.toFixed(3)} ms | ${(own / native).toFixed(2)} |`);
}

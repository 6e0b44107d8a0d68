// The engine as WebAssembly against the native one, in Node:
//   node tests/wasm-agrees.mjs ENGINE.wasm CASES.json
// Each case has the commands that load a scene, the frames to step, and where the native engine's
// particles are then. Exits non-zero if one is further off than its tolerance.

import { readFileSync } from 'node:fs';
import { WasmEngine } from '../src/wasm.js';

const [file, list] = process.argv.slice(2);
const engine = await WasmEngine.load(readFileSync(file));
engine.messages();

/** Positions in the last frame among the messages. */
function positions(messages) {
  const frame = messages.findLast((m) => typeof m !== 'string' && new Uint32Array(m, 0, 1)[0] === 3);
  return new Float32Array(frame, 24, 3 * new Uint32Array(frame, 8, 1)[0]);
}

let failures = 0;
for (const { name, load, frames, tolerance, positions: native } of JSON.parse(readFileSync(list))) {
  engine.receive(JSON.stringify(load));
  const refused = engine.messages().find((m) => typeof m === 'string' && m.includes('"refused"'));
  if (refused) throw new Error(`${name}: ${refused}`);
  let last = [];
  for (let i = 0; i < frames; i++) {
    engine.receive('{"type":"step"}');
    last = engine.messages();
  }
  const own = positions(last);
  if (own.length !== native.length) throw new Error(`${name}: ${own.length} coordinates instead of ${native.length}`);
  const apart = own.reduce((most, x, i) => Math.max(most, Math.abs(x - Math.fround(native[i]))), 0);
  const wrong = !(apart <= tolerance);
  if (wrong) failures++;
  console.log(`${wrong ? 'WRONG' : 'ok'} ${name}: ${apart === 0 ? 'the same bits' : `${apart.toExponential(1)} m apart`}`);
}
process.exit(failures > 0 ? 1 : 0);

// The weave of a cloth, seen from near: a small picture of threads over and under one another, put on
// the cloth at rest, so that it goes with it. Mipmaps and anisotropic filtering make it a plain colour
// before it is finer than pixels. A second, wider look at the same picture gives the streaks of uneven
// yarn that remain from afar.

import { DataTexture, LinearFilter, LinearMipmapLinearFilter, RepeatWrapping, RGBAFormat, UnsignedByteType } from 'three';
import { particlesOf, type Cloth } from './types';

/** Threads along the picture, and its pixels. */
export const THREADS = 32;
const PIXELS = 256;
/** How much wider the second look is; no simple fraction, so that the two do not beat. */
const WIDER = 0.217;

/** Red and green: how far the surface leans along the picture's axes. Blue: how light it is. */
export function weaveTexture(): DataTexture {
  // Always the same cloth: Park and Miller's numbers from a fixed seed.
  let seed = 7;
  const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
  /** Yarn is uneven along its length: values at a few knots per thread, smooth between them. */
  const KNOTS = 8;
  const yarn = () => Array.from({ length: THREADS }, () => {
    const own = random() - 0.5;
    return Array.from({ length: KNOTS }, () => own + 0.8 * (random() - 0.5));
  });
  const [warp, weft] = [yarn(), yarn()];
  const along = (knots: number[], t: number) => {
    const x = (t / THREADS) * KNOTS;
    const f = x - Math.floor(x);
    const s = f * f * (3 - 2 * f);
    return (1 - s) * knots[Math.floor(x) % KNOTS]! + s * knots[(Math.floor(x) + 1) % KNOTS]!;
  };
  const height = new Float32Array(PIXELS * PIXELS);
  const light = new Float32Array(PIXELS * PIXELS);
  const round = (x: number, width: number) => Math.sqrt(Math.max(1 - ((2 * x - 1) / width) ** 2, 0));
  for (let y = 0; y < PIXELS; y++) {
    for (let x = 0; x < PIXELS; x++) {
      const [u, v] = [(x + 0.5) * (THREADS / PIXELS), (y + 0.5) * (THREADS / PIXELS)];
      const [i, j] = [Math.floor(u), Math.floor(v)];
      const [a, b] = [along(warp[i]!, v), along(weft[j]!, u)];
      // Plain weave: each thread is over one and under the next, and its neighbours the other way.
      const over = round(u - i, 0.95 + 0.2 * a) * (0.5 + 0.5 * Math.cos(Math.PI * (v - 0.5 - i)));
      const under = round(v - j, 0.95 + 0.2 * b) * (0.5 - 0.5 * Math.cos(Math.PI * (u - 0.5 - j)));
      height[y * PIXELS + x] = Math.max(over, under);
      light[y * PIXELS + x] = 0.5 * Math.max(over, under) + 0.5 * (over > under ? a : b);
    }
  }
  const mean = light.reduce((sum, l) => sum + l, 0) / light.length;
  const at = (x: number, y: number) => height[((y + PIXELS) % PIXELS) * PIXELS + ((x + PIXELS) % PIXELS)]!;
  const byte = (x: number) => Math.round(255 * Math.min(Math.max(0.5 + 0.5 * x, 0), 1));
  const data = new Uint8Array(4 * PIXELS * PIXELS);
  for (let y = 0; y < PIXELS; y++) {
    for (let x = 0; x < PIXELS; x++) {
      data.set([byte(at(x + 1, y) - at(x - 1, y)), byte(at(x, y + 1) - at(x, y - 1)), byte(light[y * PIXELS + x]! - mean), 255], 4 * (y * PIXELS + x));
    }
  }
  const texture = new DataTexture(data, PIXELS, PIXELS, RGBAFormat, UnsignedByteType);
  texture.wrapS = texture.wrapT = RepeatWrapping;
  texture.magFilter = LinearFilter;
  texture.minFilter = LinearMipmapLinearFilter;
  texture.generateMipmaps = true;
  texture.anisotropy = 8;
  texture.needsUpdate = true;
  return texture;
}

/** Where each particle is in the cloth at rest, in metres: a flat grid, or the vertices of a mesh. */
export function restPlaces(cloths: Cloth[], particles: number, start: Float32Array): Float32Array {
  // What the page does not know of (a mesh in a file) rests as it starts.
  const rest = start.slice(0, 3 * particles);
  let first = 0;
  for (const cloth of cloths) {
    const size = particlesOf(cloth);
    const vertices = (cloth.mesh as { vertices?: [number, number, number][] } | undefined)?.vertices;
    for (let layer = 0; layer < layersOf(cloth); layer++, first += size) {
      if (first + size > particles) return rest;
      for (let i = 0; i < size; i++) {
        rest.set(vertices?.[i] ?? [
          ((i % cloth.columns) / Math.max(cloth.columns - 1, 1)) * cloth.width,
          (Math.floor(i / cloth.columns) / Math.max(cloth.rows - 1, 1)) * cloth.height,
          0,
        ], 3 * (first + i));
      }
    }
  }
  return rest;
}

/** How many times a cloth is there. */
export function layersOf(cloth: Cloth): number {
  return typeof cloth.layers === 'number' ? Math.max(cloth.layers, 1) : 1;
}

// A mesh has no coordinates of its own: its triangles take those two axes of the rest shape that they
// face the least away from. The threads then meet at an angle where a body would have its seams.
export const WEAVE_PARS = `
  uniform sampler2D weave; uniform float tiles; uniform float woven;
  varying vec3 vRest;
  vec2 weaveAt;
  vec3 threads; float streaks;
  void lookAtWeave() {
    vec3 facing = abs(cross(dFdx(vRest), dFdy(vRest)));
    weaveAt = tiles * (facing.z >= max(facing.x, facing.y) ? vRest.xy : facing.y >= facing.x ? vRest.xz : vRest.zy);
    threads = texture2D(weave, weaveAt).rgb - 0.5;
    streaks = texture2D(weave, ${WIDER} * weaveAt.yx).b - 0.5;
  }
  /** The normal as threads lean it, in the frame of the picture's axes on the surface. */
  vec3 leant(vec3 normal, float depth) {
    vec3 dx = dFdx(-vViewPosition), dy = dFdy(-vViewPosition);
    vec2 ax = dFdx(weaveAt), ay = dFdy(weaveAt);
    vec3 across = cross(dy, normal), along = cross(normal, dx);
    vec3 u = across * ax.x + along * ay.x, v = across * ax.y + along * ay.y;
    float scale = inversesqrt(max(max(dot(u, u), dot(v, v)), 1e-20));
    return normalize(normal - depth * scale * (threads.x * u + threads.y * v));
  }`;

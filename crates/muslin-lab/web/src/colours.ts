// Colour maps with even steps of lightness, and the colours of panes and cloth.

import { DataTexture, RGBAFormat, SRGBColorSpace, UnsignedByteType, LinearFilter } from 'three';

type Row = [number, number, number];

// Polynomials of degree six through viridis and plasma (after M. Zucker, public domain).
const VIRIDIS: Row[] = [
  [0.2777273272234177, 0.005407344544966578, 0.3340998053353061],
  [0.1050930431085774, 1.404613529898575, 1.384590162594685],
  [-0.3308618287255563, 0.214847559468213, 0.09509516302823659],
  [-4.634230498983486, -5.799100973351585, -19.33244095627987],
  [6.228269936347081, 14.17993336680509, 56.69055260068105],
  [4.776384997670288, -13.74514537774601, -65.35303263337234],
  [-5.435455855934631, 4.645852612178535, 26.3124352495832],
];
const PLASMA: Row[] = [
  [0.05873234392399702, 0.02333670892565664, 0.5433401826748754],
  [2.176514634195958, 0.2383834171260182, 0.7539604599784036],
  [-2.689460476458034, -7.455851135738909, 3.110799939717086],
  [6.130348345893603, 42.3461881477227, -28.51885465332158],
  [-11.10743619062271, -82.66631109428045, 60.13984767418263],
  [10.02306557647065, 71.41361770095349, -54.07218655560067],
  [-3.658713842777788, -22.93153465461149, 18.19190778539828],
];

/** Kinds of springs, and the colours of their lines, on light and dark cloth. */
export const SPRING_COLOURS: [string, string][] = [['structural', '#3d6fb6'], ['shear', '#d07a1d'], ['bend', '#2f9e6e']];

export const COLOUR_MAPS = { strain: PLASMA, speed: VIRIDIS };

/** sRGB, 0 to 255. */
export function colourAt(map: Row[], t: number): Row {
  const channel = (c: 0 | 1 | 2) => {
    let value = 0;
    for (let i = map.length - 1; i >= 0; i--) value = value * t + (map[i]?.[c] ?? 0);
    return Math.round(255 * Math.min(Math.max(value, 0), 1));
  };
  return [channel(0), channel(1), channel(2)];
}

/**
 * Which colour each stored byte has. Strains of good cloth are a few per cent of a scale that
 * ends at 20 %, so the root spreads them.
 */
export function colourTexture(map: Row[], root: boolean): DataTexture {
  const data = new Uint8Array(4 * 256);
  for (let i = 0; i < 256; i++) {
    const t = i / 255;
    data.set([...colourAt(map, root ? Math.sqrt(t) : t), 255], 4 * i);
  }
  const texture = new DataTexture(data, 256, 1, RGBAFormat, UnsignedByteType);
  texture.colorSpace = SRGBColorSpace;
  texture.minFilter = texture.magFilter = LinearFilter;
  texture.needsUpdate = true;
  return texture;
}

export function cssGradient(map: Row[]): string {
  const stops = Array.from({ length: 13 }, (_, i) => `rgb(${colourAt(map, i / 12).join(' ')})`);
  return `linear-gradient(to right, ${stops.join(', ')})`;
}

/** One colour per pane, told apart in both themes and with impaired colour vision. */
export const PANE_COLOURS = ['#4c8dd6', '#e08a2e', '#2fa58a', '#c65b9b'];

export const CLOTH_FRONT = '#c4573f';
export const CLOTH_BACK = '#e2c48f';
/** Fronts and backs of the cloths of a scene, in turn. */
export const CLOTHS: [front: string, back: string][] = [
  [CLOTH_FRONT, CLOTH_BACK], ['#4a7fa6', '#b9cdd6'], ['#c99a3d', '#ecdcb4'], ['#6d9363', '#c9d6b6'], ['#8d6394', '#d8c4d6'],
];

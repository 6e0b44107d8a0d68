// The ground: a soft disc of light with a fine grid that fades into the background, and the
// shadows on it.

import type { Contact } from './contact';
import { CircleGeometry, Color, Group, Mesh, ShaderMaterial, ShadowMaterial } from 'three';

/** Grid spacing of 1, 2 or 5 times a power of ten, about a tenth of the scene. */
export function gridSpacing(size: number): number {
  const wanted = size / 8;
  const power = 10 ** Math.floor(Math.log10(wanted));
  return [1, 2, 5, 10].map((f) => f * power).find((s) => s >= wanted) ?? 10 * power;
}

export class Ground {
  readonly group = new Group();
  private readonly paper: ShaderMaterial;
  private readonly shade = new ShadowMaterial({ opacity: 0.25, depthWrite: false });

  constructor(contact: Contact) {
    this.paper = new ShaderMaterial({
      transparent: true,
      depthWrite: false,
      uniforms: {
        ...contact.uniforms,
        ground: { value: new Color() },
        line: { value: new Color() },
        spacing: { value: 1 },
        reach: { value: 10 },
        centre: { value: [0, 0] },
        checks: { value: 0.04 },
      },
      vertexShader: `
        varying vec2 at; varying vec2 below; uniform mat4 contactMatrix;
        void main() {
          vec4 world = modelMatrix * vec4(position, 1.0);
          at = world.xz;
          below = (contactMatrix * world).xy * 0.5 + 0.5;
          gl_Position = projectionMatrix * viewMatrix * world;
        }`,
      fragmentShader: `
        uniform vec3 ground; uniform vec3 line; uniform float spacing; uniform float reach; uniform vec2 centre;
        uniform float checks; uniform sampler2D contact; uniform float contactStrength;
        varying vec2 at; varying vec2 below;
        float grid(float step) {
          vec2 wide = fwidth(at / step);
          vec2 d = abs(fract(at / step - 0.5) - 0.5) / max(wide, vec2(1e-6));
          // Lines closer than a few pixels turn into flicker: they fade instead.
          vec2 lines = (1.0 - min(d, 1.0)) * (1.0 - smoothstep(0.15, 0.5, wide));
          return max(lines.x, lines.y);
        }
        void main() {
          float r = length(at - centre) / reach;
          float fade = 1.0 - smoothstep(0.1, 0.95, r);
          float lines = max(0.45 * grid(spacing), grid(spacing * 5.0) * 0.9);
          // Larger tiles in two shades say how far things are.
          vec2 tile = at / (5.0 * spacing), wide = fwidth(tile);
          vec2 side = 2.0 * abs(2.0 * fract(0.5 * tile + 0.25) - 1.0) - 1.0;
          vec2 sharp = clamp(side / max(4.0 * wide, vec2(1e-6)), -1.0, 1.0);
          float check = sharp.x * sharp.y * (1.0 - smoothstep(0.1, 0.6, max(wide.x, wide.y)));
          vec3 colour = mix(ground * (1.0 + checks * check), line, lines);
          if (contactStrength > 0.0) {
            float near = textureLod(contact, below, 2.5).r, around = textureLod(contact, below, 4.0).g;
            colour *= 1.0 - contactStrength * (0.45 * near + 0.4 * around);
          }
          gl_FragColor = vec4(colour, fade);
          #include <colorspace_fragment>
        }`,
    });
    const disc = new CircleGeometry(1, 96).rotateX(-Math.PI / 2);
    const paper = new Mesh(disc, this.paper);
    const shadows = new Mesh(disc, this.shade);
    paper.renderOrder = -2;
    shadows.renderOrder = -1;
    shadows.receiveShadow = true;
    this.group.add(paper, shadows);
  }

  colours(ground: string, line: string, shadow: number, checks: number): void {
    const uniforms = this.paper.uniforms;
    uniforms.checks!.value = checks;
    (uniforms.ground!.value as Color).set(ground);
    (uniforms.line!.value as Color).set(line);
    this.shade.opacity = shadow;
  }

  place(x: number, y: number, z: number, size: number): void {
    const reach = 7 * size;
    this.group.position.set(x, y, z);
    this.group.scale.set(reach, 1, reach);
    const uniforms = this.paper.uniforms;
    uniforms.centre!.value = [x, z];
    uniforms.reach!.value = reach;
    uniforms.spacing!.value = gridSpacing(size);
  }
}

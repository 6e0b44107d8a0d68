// What is behind everything: a horizon of haze, the sky above it, and far ground below, which the
// near ground fades into. Drawn around whoever looks, so it has no place and no size.

import { BackSide, BoxGeometry, Color, Mesh, ShaderMaterial } from 'three';

export class Sky {
  readonly mesh: Mesh<BoxGeometry, ShaderMaterial>;

  constructor() {
    const material = new ShaderMaterial({
      side: BackSide,
      depthTest: false,
      depthWrite: false,
      uniforms: { haze: { value: new Color() }, zenith: { value: new Color() }, earth: { value: new Color() } },
      vertexShader: `
        varying vec3 towards;
        void main() {
          towards = position;
          vec4 at = projectionMatrix * vec4(mat3(viewMatrix) * position, 1.0);
          gl_Position = vec4(at.xy, 0.0, at.w);
        }`,
      fragmentShader: `
        uniform vec3 haze; uniform vec3 zenith; uniform vec3 earth;
        varying vec3 towards;
        void main() {
          float up = normalize(towards).y;
          vec3 colour = up > 0.0 ? mix(zenith, haze, exp(-5.0 * up)) : mix(earth, haze, exp(7.0 * up));
          gl_FragColor = vec4(colour, 1.0);
          #include <colorspace_fragment>
          // A gradient this slow has visible steps in eight bits: noise of one step hides them.
          gl_FragColor.rgb += (fract(52.98 * fract(dot(gl_FragCoord.xy, vec2(0.0671, 0.00584)))) - 0.5) / 255.0;
        }`,
    });
    this.mesh = new Mesh(new BoxGeometry(2, 2, 2), material);
    this.mesh.renderOrder = -10;
    this.mesh.frustumCulled = false;
  }

  colours(haze: Color, zenith: Color, earth: Color): void {
    const { uniforms } = this.mesh.material;
    (uniforms.haze!.value as Color).copy(haze);
    (uniforms.zenith!.value as Color).copy(zenith);
    (uniforms.earth!.value as Color).copy(earth);
  }
}

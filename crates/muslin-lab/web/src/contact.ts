// Where things are near the ground, seen from below: the sky lights the ground less there. One small
// picture per pane of how near the lowest surface is, blurred by its own mipmaps.

import {
  LinearFilter, LinearMipmapLinearFilter, Matrix4, OrthographicCamera, Scene, ShaderMaterial, Vector3, WebGLRenderer, WebGLRenderTarget, DoubleSide,
} from 'three';

/** What is drawn from below too. */
export const NEAR_GROUND = 1;
const PIXELS = 256;

export class Contact {
  readonly uniforms = {
    contact: { value: null as unknown },
    contactMatrix: { value: new Matrix4() },
    contactStrength: { value: 0 },
  };
  private readonly target = new WebGLRenderTarget(PIXELS, PIXELS, {
    magFilter: LinearFilter, minFilter: LinearMipmapLinearFilter, generateMipmaps: true, depthBuffer: true,
  });
  private readonly camera = new OrthographicCamera();
  private readonly material = new ShaderMaterial({
    side: DoubleSide,
    uniforms: { floor: { value: 0 }, near: { value: 1 } },
    vertexShader: `
      uniform float floor; varying float height;
      void main() {
        vec4 world = modelMatrix * vec4(position, 1.0);
        height = world.y - floor;
        gl_Position = projectionMatrix * viewMatrix * world;
      }`,
    fragmentShader: `
      uniform float near; varying float height;
      void main() {
        float h = max(height, 0.0) / near;
        gl_FragColor = vec4(exp(-4.0 * h), exp(-h), 0.0, 1.0);
      }`,
  });

  constructor() {
    this.uniforms.contact.value = this.target.texture;
    this.camera.layers.set(NEAR_GROUND);
    this.camera.up.set(0, 0, 1);
  }

  place(centre: Vector3, size: number): void {
    Object.assign(this.camera, { left: -size, right: size, top: size, bottom: -size, near: 0, far: 4 * size });
    this.camera.position.copy(centre);
    this.material.uniforms.near!.value = 0.12 * size;
  }

  draw(renderer: WebGLRenderer, stage: Scene, floor: number): void {
    const { camera, material } = this;
    camera.position.y = floor - 0.05 * camera.right;
    camera.lookAt(camera.position.x, floor + 1, camera.position.z);
    camera.updateProjectionMatrix();
    camera.updateMatrixWorld();
    this.uniforms.contactMatrix.value.multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse);
    material.uniforms.floor!.value = floor;
    // Shadows are those of the picture that follows.
    renderer.shadowMap.autoUpdate = false;
    stage.overrideMaterial = material;
    renderer.setRenderTarget(this.target);
    renderer.render(stage, camera);
    renderer.setRenderTarget(null);
    stage.overrideMaterial = null;
    renderer.shadowMap.autoUpdate = true;
  }
}

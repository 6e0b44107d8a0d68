// One hand in virtual reality, a controller or a tracked hand: where it grips, where it points,
// whether it closes, and what it looks like. No models are loaded from elsewhere.

import {
  BufferGeometry, Color, ConeGeometry, Float32BufferAttribute, Group, InstancedMesh, Line, LineBasicMaterial,
  Matrix4, Mesh, MeshBasicMaterial, MeshStandardMaterial, Quaternion, Ray, SphereGeometry, Vector3,
} from 'three';

/** Thumb and index closer than this pinch, until they are farther apart than that. [m] */
const PINCH = 0.018;
const OPEN = 0.032;
const JOINTS = 25;

export class VrHand {
  /** Where it takes hold, and what else of it touches things, on stage. */
  readonly point = new Vector3();
  readonly tip = new Vector3();
  /** Where it points, on stage. */
  readonly ray = new Ray();
  /** Its place and turn on stage. */
  readonly matrix = new Matrix4();
  tracked = false;
  closed = false;
  readonly stick = { x: 0, y: 0 };

  private readonly shape = new Group();
  private readonly joints: InstancedMesh;
  private readonly beam: Line<BufferGeometry, LineBasicMaterial>;
  private readonly mark: Mesh<SphereGeometry, MeshBasicMaterial>;
  private readonly m = new Matrix4();
  private readonly q = new Quaternion();
  private readonly s = new Vector3();

  /** `rig` carries what moves with the person, `stage` what stays with the cloth. */
  constructor(readonly side: XRHandedness, private readonly rig: Group, stage: { add(...o: Group[] | Mesh[]): unknown }) {
    const skin = new MeshStandardMaterial({ color: '#5b6270', roughness: 0.6 });
    // Its tip is where it grips.
    const cone = new Mesh(new ConeGeometry(0.014, 0.11, 20).rotateX(-Math.PI / 2).translate(0, 0, 0.055), skin);
    this.shape.add(cone);
    this.joints = new InstancedMesh(new SphereGeometry(1, 12, 8), skin, JOINTS);
    this.joints.frustumCulled = false;
    const ends = new BufferGeometry().setAttribute('position', new Float32BufferAttribute([0, 0, 0, 0, 0, -1], 3));
    this.beam = new Line(ends, new LineBasicMaterial({ transparent: true, opacity: 0.8, fog: false }));
    this.mark = new Mesh(new SphereGeometry(1, 16, 12), new MeshBasicMaterial({ depthTest: false, transparent: true, opacity: 0.9, fog: false }));
    this.mark.renderOrder = 10;
    cone.castShadow = this.joints.castShadow = true;
    rig.add(this.shape, this.joints, this.beam);
    stage.add(this.mark);
    this.hide();
  }

  hide(): void {
    this.tracked = this.closed = false;
    this.shape.visible = this.joints.visible = this.beam.visible = this.mark.visible = false;
    this.stick.x = this.stick.y = 0;
  }

  /** Takes in this picture's poses. */
  update(frame: XRFrame, space: XRReferenceSpace, source: XRInputSource | undefined): void {
    const pose = source && frame.getPose(source.targetRaySpace, space);
    if (!source || !pose) return this.hide();
    this.tracked = true;
    this.beam.visible = this.mark.visible = false;
    this.m.fromArray(pose.transform.matrix);
    this.matrix.multiplyMatrices(this.rig.matrixWorld, this.m);
    this.ray.origin.setFromMatrixPosition(this.matrix);
    this.ray.direction.set(0, 0, -1).transformDirection(this.matrix);
    this.m.decompose(this.shape.position, this.shape.quaternion, this.s);
    this.m.decompose(this.beam.position, this.beam.quaternion, this.s);
    this.shape.visible = !source.hand;
    this.joints.visible = source.hand !== undefined && source.hand !== null;
    if (source.hand) this.fingers(frame, space, source.hand);
    else this.controller(source);
  }

  private controller(source: XRInputSource): void {
    this.point.copy(this.ray.origin);
    this.tip.copy(this.ray.origin);
    const { buttons = [], axes = [] } = source.gamepad ?? {};
    // Trigger and squeeze. (Their events come in another order in every runtime.)
    this.closed = Boolean(buttons[0]?.pressed || buttons[1]?.pressed);
    this.stick.x = axes[2] ?? axes[0] ?? 0;
    this.stick.y = axes[3] ?? axes[1] ?? 0;
  }

  private fingers(frame: XRFrame, space: XRReferenceSpace, hand: XRHand): void {
    let i = 0;
    const at = new Map<XRHandJoint, Vector3>();
    for (const [name, joint] of hand.entries()) {
      const pose = frame.getJointPose?.(joint, space);
      if (!pose || i >= JOINTS) continue;
      const { x, y, z } = pose.transform.position;
      const place = new Vector3(x, y, z);
      at.set(name, place);
      this.joints.setMatrixAt(i++, this.m.compose(place, this.q.identity(), this.s.setScalar(pose.radius ?? 0.008)));
    }
    this.joints.count = i;
    this.joints.instanceMatrix.needsUpdate = true;
    const [thumb, index] = [at.get('thumb-tip'), at.get('index-finger-tip')];
    if (!thumb || !index) {
      this.closed = false;
      return;
    }
    const apart = thumb.distanceTo(index);
    this.closed = apart < (this.closed ? OPEN : PINCH);
    this.tip.copy(index).applyMatrix4(this.rig.matrixWorld);
    this.point.copy(thumb).lerp(index, 0.5).applyMatrix4(this.rig.matrixWorld);
    this.stick.x = this.stick.y = 0;
    // A held body turns with the hand about the fingers.
    this.matrix.setPosition(this.point);
  }

  /** Shows the particle it would take, or holds. */
  showMark(at: Vector3, held: boolean, colour: Color): void {
    this.mark.visible = true;
    this.mark.position.copy(at);
    this.mark.scale.setScalar(held ? 0.014 : 0.01);
    this.mark.material.color.copy(colour);
  }

  /** Shows where it points, so far. */
  showBeam(length: number, colour: Color): void {
    this.beam.visible = true;
    this.beam.scale.set(1, 1, length);
    this.beam.material.color.copy(colour);
  }
}

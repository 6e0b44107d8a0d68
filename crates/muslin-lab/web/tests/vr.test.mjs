// Drives the page with an emulated headset in a headless browser:
//   node tests/vr.test.mjs [URL] [folder for screenshots]
// Without a URL it starts the mock server on the built page, which also has a body to move and a
// scene that says it is slow. PAGE=dist as in page.test.mjs. Exits non-zero on the first failure.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { start } from './mock-server.mjs';

const mock = process.argv[2] ? null : await start();
const url = process.argv[2] ?? `http://127.0.0.1:${mock.address().port}/`;
const folder = process.argv[3] ?? process.env.SHOTS ?? null;
if (folder) mkdirSync(folder, { recursive: true });
/** Software rendering on a shared machine is slow; nothing here waits this long when all is well. */
const PATIENCE = Number(process.env.PATIENCE ?? 90) * 1000;
/** How near a held particle comes to the hand. [m] */
const NEAR = 0.06;

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const complaints = [];
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-dev-shm-usage', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist'],
});
const until = (page, check, arg) => page.waitForFunction(check, arg, { timeout: PATIENCE, polling: 50 });
const shot = (page, name) => (folder ? page.screenshot({ path: join(folder, `${name}.png`) }) : null);
function expect(truth, message) {
  if (!truth) throw new Error(message);
}

async function openPage(withHeadset) {
  const permissions = process.env.PAGE === 'dist' ? ['local-network-access'] : [];
  const page = await browser.newPage({ viewport: { width: 640, height: 400 }, permissions });
  page.setDefaultTimeout(PATIENCE);
  page.on('console', (m) => ['error', 'warning'].includes(m.type()) && !/GPU stall|swiftshader/i.test(m.text()) && complaints.push(m.text()));
  page.on('pageerror', (e) => complaints.push(e.message));
  if (process.env.PAGE === 'dist') {
    await page.route(new URL('/**', url).href, (route) => {
      const path = new URL(route.request().url()).pathname;
      return route.fulfill({ path: join(here('../dist/'), path === '/' ? 'index.html' : path) });
    });
  }
  if (withHeadset) {
    await page.addInitScript({ path: here('../node_modules/iwer/build/iwer.min.js') });
    await page.addInitScript(headset);
  }
  await page.goto(url);
  await until(page, () => window.lab?.reports[0] && lab.frames() > 0);
  return page;
}

/** Runs in the page: a headset, and ways to move its hands about the stage. */
function headset() {
  const device = new IWER.XRDevice(IWER.metaQuest3, { stereoEnabled: true });
  device.installRuntime({ forceInstall: true });
  const input = (side) => (device.primaryInputMode === 'hand' ? device.hands : device.controllers)[side];
  const sides = ['left', 'right'];
  window.headset = {
    device,
    at: (particle) => [...lab.positions(0).slice(3 * particle, 3 * particle + 3)],
    away: (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]),
    /** Moves a hand so that what grips is at a place on stage. Once a picture: it goes by the last one. */
    put(side, place) {
      const [now, to] = [lab.vr.inRoom(lab.vr.hands[sides.indexOf(side)].point), lab.vr.inRoom(place)];
      const { position } = input(side);
      position.set(position.x + to[0] - now[0], position.y + to[1] - now[1], position.z + to[2] - now[2]);
    },
    /** Puts a controller on the way from the head to a place on stage, pointing at it. */
    aim(side, place, distance) {
      const to = lab.vr.inRoom(place);
      const head = device.position;
      const d = [to[0] - head.x, to[1] - head.y, to[2] - head.z];
      const length = Math.hypot(...d);
      const [x, y, z] = d.map((v) => v / length);
      // The turn from (0, 0, −1) to d.
      const w = Math.sqrt((1 - z) / 2);
      input(side).quaternion.set(y / (2 * w), -x / (2 * w), 0, w);
      input(side).position.set(to[0] - distance * x, to[1] - distance * y, to[2] - distance * z);
    },
    /** Fingers come nearer when they pinch, and what grips with them: before it is placed they are half closed. */
    ready(side) {
      if (device.primaryInputMode === 'hand') device.hands[side].updatePinchValue(0.75);
    },
    close(side, closed) {
      if (device.primaryInputMode === 'hand') device.hands[side].updatePinchValue(closed ? 1 : 0);
      else device.controllers[side].updateButtonValue('trigger', closed ? 1 : 0);
    },
  };
}

const hand = { left: 0, right: 1 };
const pictures = async (page, count) => {
  const drawn = await page.evaluate(() => lab.frames());
  await until(page, ([n, c]) => lab.frames() >= n + c, [drawn, count]);
};
const setPlaying = async (page, playing) => {
  await page.evaluate((p) => lab.state.playing !== p && document.getElementById('play').click(), playing);
  // The report that says so comes after the last frame before the pause.
  await until(page, (p) => lab.state.playing === p && lab.reports[0]?.playing === p, playing);
};
/** Brings a hand to a free particle of the paused cloth, closes it, and says which one it holds. */
async function grab(page, side, corner) {
  await setPlaying(page, false);
  await page.evaluate((s) => headset.ready(s), side);
  await pictures(page, 2);
  await page.evaluate(([s, right]) => {
    // The lowest free one far to that side.
    const [x, pins] = [lab.positions(0), new Set(lab.state.pins)];
    let best = -1;
    const rank = (i) => (right ? 1 : -1) * x[3 * i] - 2 * x[3 * i + 1];
    for (let i = 0; 3 * i < x.length; i++) if (!pins.has(i) && (best < 0 || rank(i) > rank(best))) best = i;
    headset.put(s, headset.at(best));
  }, [side, corner === 'right']);
  await until(page, (i) => lab.vr.hands[i].hovered !== null, hand[side]);
  await page.evaluate((s) => headset.close(s, true), side);
  await until(page, (i) => lab.vr.hands[i].held === 'particle', hand[side]);
  await setPlaying(page, true);
  return page.evaluate((i) => lab.vr.hands[i].particle, hand[side]);
}
const move = (page, side, by) => page.evaluate(([s, i, d]) => {
  headset.put(s, lab.vr.hands[i].point.map((v, k) => v + d[k]));
}, [side, hand[side], by]);
/** Moves a hand with its particle towards the nearest pin, where the cloth has slack. */
const lift = (page, side, particle) => page.evaluate(([s, p]) => {
  const from = headset.at(p);
  const [pin] = lab.state.pins.map(headset.at).sort((a, b) => headset.away(a, from) - headset.away(b, from));
  const share = Math.min(0.18 / headset.away(from, pin), 0.6);
  headset.put(s, from.map((v, k) => v + share * (pin[k] - v)));
}, [side, particle]);
const follows = (page, side, particle) => until(page, ([i, p, near]) =>
  headset.away(lab.vr.hands[i].point, headset.at(p)) < near, [hand[side], particle, NEAR]).catch(async (error) => {
  const places = await page.evaluate(([i, p]) => [lab.vr.hands[i].point, headset.at(p)], [hand[side], particle]);
  throw new Error(`hand and particle ${particle} are at ${JSON.stringify(places)}: ${error.message}`);
});
async function letGo(page, side, particle) {
  await page.evaluate((s) => headset.close(s, false), side);
  await until(page, (i) => lab.vr.hands[i].held === null, hand[side]);
  // The hand goes, and what it has let go of does not follow.
  await move(page, side, [0, 0.3, 0.1]);
  await until(page, ([i, p, near]) => headset.away(lab.vr.hands[i].point, headset.at(p)) > near + 0.02, [hand[side], particle, NEAR]);
}
async function press(page, button) {
  await page.evaluate((b) => headset.aim('right', lab.vr.buttonAt(b), 0.12), button);
  await pictures(page, 2);
  await page.evaluate(() => headset.close('right', true));
  await pictures(page, 2);
  await page.evaluate(() => headset.close('right', false));
  await pictures(page, 2);
}
/** A scene by its name, as the panel of the page would open it. */
async function openScene(page, name) {
  await page.selectOption('#scene-menu', name, { force: true });
  await until(page, (n) => lab.state.base.name === n && lab.positions(0).length === 3 * lab.state.opened.panes[0].particles, name);
  await pictures(page, 3);
}

const tests = {
  async 'without a headset the button says why it is off'() {
    const plain = await openPage(false);
    await until(plain, () => document.getElementById('vr').title !== 'Enter VR');
    const { disabled, title } = await plain.$eval('#vr', (b) => ({ disabled: b.disabled, title: b.title }));
    expect(disabled && /headset|WebXR/.test(title), `the button says “${title}”`);
    await plain.close();
  },

  async 'one enters and stands on the floor before the cloth'(page) {
    await until(page, () => !document.getElementById('vr').disabled);
    await page.click('#vr');
    await until(page, () => lab.vr.active);
    // Drawing in software takes longer than any headset allows: the budget has a test of its own.
    await page.evaluate(() => (lab.vr.budget.limit = Infinity));
    await pictures(page, 5);
    const { lowest, highest, nearest } = await page.evaluate(() => {
      const x = lab.positions(0);
      const room = Array.from({ length: x.length / 3 }, (_, i) => lab.vr.inRoom([...x.slice(3 * i, 3 * i + 3)]));
      const eye = headset.device.position.toArray?.() ?? [headset.device.position.x, headset.device.position.y, headset.device.position.z];
      return {
        lowest: Math.min(...room.map((p) => p[1])),
        highest: Math.max(...room.map((p) => p[1])),
        nearest: Math.min(...room.map((p) => headset.away(p, eye))),
      };
    });
    expect(lowest > 0 && highest > 0.7 && lowest < 1.7, `the cloth is from ${lowest} to ${highest} m above the floor`);
    expect(nearest < 1.2, `the nearest particle is ${nearest} m from the eyes`);
    await shot(page, 'vr-start');
  },

  async 'a trigger grabs, the cloth follows, and is let go'(page) {
    const particle = await grab(page, 'right', 'right');
    await lift(page, 'right', particle);
    await pictures(page, 3);
    await follows(page, 'right', particle);
    await shot(page, 'vr-grab');
    await letGo(page, 'right', particle);
  },

  async 'two hands hold two places, and let go one by one'(page) {
    const left = await grab(page, 'left', 'left');
    const right = await grab(page, 'right', 'right');
    expect(left !== right, 'both hands hold the same particle');
    await lift(page, 'left', left);
    await lift(page, 'right', right);
    await pictures(page, 3);
    await follows(page, 'left', left);
    await follows(page, 'right', right);
    await shot(page, 'vr-two-hands');
    await letGo(page, 'right', right);
    await follows(page, 'left', left);
    await letGo(page, 'left', left);
  },

  async 'a squeeze grabs as well'(page) {
    await grab(page, 'left', 'left');
    await page.evaluate(() => {
      headset.device.controllers.left.updateButtonValue('squeeze', 1);
      headset.close('left', false);
    });
    await pictures(page, 3);
    expect((await page.evaluate(() => lab.vr.hands[0].held)) === 'particle', 'the squeeze does not hold');
    await page.evaluate(() => headset.device.controllers.left.updateButtonValue('squeeze', 0));
    await until(page, () => lab.vr.hands[0].held === null);
  },

  async 'the stick turns and walks'(page) {
    const before = await page.evaluate(() => lab.vr.rig);
    await page.evaluate(() => headset.device.controllers.right.updateAxes('thumbstick', 1, 0));
    await until(page, (turn) => Math.abs(lab.vr.rig.turn - turn + Math.PI / 6) < 1e-6, before.turn);
    // However long it is held, it is one snap.
    await pictures(page, 3);
    await page.evaluate(() => headset.device.controllers.right.updateAxes('thumbstick', 0, 0));
    await pictures(page, 2);
    await page.evaluate(() => headset.device.controllers.right.updateAxes('thumbstick', -1, 0));
    await until(page, (turn) => Math.abs(lab.vr.rig.turn - turn) < 1e-6, before.turn);
    await page.evaluate(() => {
      headset.device.controllers.right.updateAxes('thumbstick', 0, 0);
      headset.device.controllers.left.updateAxes('thumbstick', 0, 1);
    });
    // Backwards, away from the cloth.
    await until(page, (from) => headset.away(lab.vr.rig.position, from) > 0.2, before.position);
    await page.evaluate(() => headset.device.controllers.left.updateAxes('thumbstick', 0, 0));
    await pictures(page, 2);
    const { y, back } = await page.evaluate(({ position }) => ({
      y: lab.vr.rig.position[1] - position[1],
      back: lab.vr.inRoom(position)[2],
    }), before);
    expect(y === 0 && back < -0.15, `it went ${y} m up and ${-back} m back`);
  },

  async 'a pinch grabs'(page) {
    await page.evaluate(() => (headset.device.primaryInputMode = 'hand'));
    await pictures(page, 3);
    const particle = await grab(page, 'right', 'right');
    await lift(page, 'right', particle);
    await pictures(page, 3);
    await follows(page, 'right', particle);
    await shot(page, 'vr-pinch');
    await letGo(page, 'right', particle);
    await page.evaluate(() => (headset.device.primaryInputMode = 'controller'));
    await pictures(page, 3);
  },

  async 'a finger on the panel pauses and plays'(page) {
    for (const playing of [false, true]) {
      await page.evaluate(() => headset.put('left', lab.vr.buttonAt('pause')));
      await until(page, (p) => lab.state.playing === p, playing);
      await page.evaluate(() => headset.device.controllers.left.position.set(-0.3, 0.9, 0.3));
      await pictures(page, 2);
    }
  },

  async 'the panel goes to the next scene and the next method, and back'(page) {
    const [scene, method] = await page.evaluate(() => [lab.state.base.name, lab.state.methods[0].id]);
    await press(page, 'next-scene');
    await until(page, (old) => lab.state.base.name !== old && lab.state.opened.scene.name !== old, scene);
    await pictures(page, 3);
    await shot(page, 'vr-next-scene');
    await press(page, 'previous-scene');
    await until(page, (old) => lab.state.base.name === old, scene);
    await press(page, 'next-method');
    await until(page, (old) => lab.state.methods[0].id !== old && lab.state.opened.panes[0].method.id !== old, method);
    await press(page, 'previous-method');
    await until(page, (old) => lab.state.methods[0].id === old, method);
  },

  async 'what is too slow gets fewer substeps, then a coarser grid, and both back'(page) {
    const name = mock ? 'heavy' : 'curtain';
    await openScene(page, name);
    const own = await page.evaluate(() => structuredClone(lab.state.scene));
    const cells = (scene) => scene.cloth[0].columns;
    if (mock) await page.evaluate(() => (lab.vr.budget.limit = 11));
    else await page.evaluate(() => (lab.vr.budget.limit = 1e-3));
    if (own.substeps > 1) {
      await until(page, (n) => lab.state.scene.substeps < n && /^substeps \d+ → \d+ to keep/.test(lab.vr.note), own.substeps);
      await shot(page, 'vr-budget');
    }
    await until(page, (n) => lab.state.opened.scene.cloth[0].columns < n && /^grid .* to keep/.test(lab.vr.note), cells(own));
    expect((await page.evaluate(() => lab.state.scene.substeps)) === 1, 'the grid went before the substeps');
    await page.evaluate(() => (lab.vr.budget.limit = 1e6));
    await until(page, ([columns, substeps]) => {
      const { scene } = lab.state.opened;
      return scene.cloth[0].columns === columns && scene.substeps === substeps && lab.vr.note.endsWith('room again');
    }, [cells(own), own.substeps]);
    await page.evaluate(() => (lab.vr.budget.limit = Infinity));
  },

  async 'a body is carried, and pushes the cloth'(page) {
    const [scene, radius] = mock ? ['ball', 0.29] : ['moustakas-sphere', 0.249];
    await openScene(page, scene);
    const place = () => [...lab.colliders.place(0).elements.slice(12, 15)];
    const from = await page.evaluate(place);
    await page.evaluate(() => {
      const [x, y, z] = lab.colliders.place(0).elements.slice(12, 15);
      headset.put('left', [x, y - 0.2, z]);
    });
    await pictures(page, 3);
    await page.evaluate(() => headset.close('left', true));
    await until(page, () => lab.vr.hands[0].held === 'collider');
    await move(page, 'left', [0.1, 0.25, 0]);
    await until(page, (a) => Math.abs(lab.colliders.place(0).elements[13] - a[1] - 0.25) < 1e-3, from);
    await until(page, (radius) => {
      const [x, y, z] = lab.colliders.place(0).elements.slice(12, 15);
      const p = lab.positions(0);
      for (let i = 0; i < p.length; i += 3) if (headset.away([x, y, z], [p[i], p[i + 1], p[i + 2]]) < radius) return false;
      return true;
    }, radius);
    await pictures(page, 2);
    await shot(page, 'vr-body');
    await page.evaluate(() => headset.close('left', false));
    await until(page, () => lab.vr.hands[0].held === null);
  },

  async 'the panel leads back to the page'(page) {
    await press(page, 'leave').catch(() => {});
    await until(page, () => !lab.vr.active);
    const drawn = await page.evaluate(() => lab.frames());
    await until(page, (n) => lab.frames() > n + 2, drawn);
    await shot(page, 'vr-left');
  },

  async 'the mouse moves a body on the page'(page) {
    const box = await page.locator('#canvas').boundingBox();
    const at = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
    await page.setViewportSize({ width: 1000, height: 640 });
    const drawn = await page.evaluate(() => lab.frames());
    await until(page, (n) => lab.frames() > n + 2, drawn);
    // Somewhere over the ball, which is found by trying.
    const before = await page.evaluate(() => [...lab.colliders.place(0).elements.slice(12, 15)]);
    let moved = false;
    const stage = await page.locator('#canvas').boundingBox();
    for (let j = 2; j < 9 && !moved; j++) for (let i = 2; i < 9 && !moved; i++) {
      [at.x, at.y] = [stage.x + (stage.width * i) / 10, stage.y + (stage.height * j) / 10];
      await page.mouse.move(at.x, at.y);
      await page.mouse.down();
      await page.mouse.move(at.x + 40, at.y - 10, { steps: 2 });
      await page.mouse.up();
      moved = await page.evaluate((b) => headset.away(b, [...lab.colliders.place(0).elements.slice(12, 15)]) > 0.01, before);
    }
    expect(moved, 'no drag on the stage moves the body');
    await shot(page, 'body');
  },
};

let failed = false;
const page = await openPage(true).catch((error) => {
  console.error(`FAIL  the page does not start: ${error.message} ${complaints.join(' | ')}`);
  process.exit(1);
});
const only = process.env.ONLY;
for (const [name, test] of Object.entries(tests)) {
  if (only && !new RegExp(only).test(name)) continue;
  const began = performance.now();
  try {
    const skipped = await test(page);
    expect(complaints.length === 0, `the console says: ${complaints.join(' | ')}`);
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    console.log(skipped ? `skip  ${name}: ${skipped}` : `ok    ${name} (${seconds} s)`);
  } catch (error) {
    failed = true;
    const where = error.stack?.match(/vr\.test\.mjs:\d+/g)?.join(' < ') ?? '';
    const { budget, ...facts } = await page.evaluate(() => lab.vr);
    console.error(`FAIL  ${name}: ${error.message} (${where}) ${JSON.stringify(facts)}`);
    await shot(page, 'vr-failure');
    break;
  }
}
await browser.close();
mock?.close();
process.exit(failed ? 1 : 0);

// Drives the page in a headless browser:
//   node tests/page.test.mjs [URL] [folder for screenshots]
// Without a URL it starts the mock server on the built page. With PAGE=dist in the environment the
// page comes from dist/ and only the socket from the server, so that the program need not be
// built anew after each change of the page. Exits non-zero on the first failure.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { start } from './mock-server.mjs';

const mock = process.argv[2] ? null : await start();
const url = process.argv[2] ?? `http://127.0.0.1:${mock.address().port}/`;
const folder = process.argv[3] ?? null;
if (folder) mkdirSync(folder, { recursive: true });
/** Software rendering on a shared machine is slow; nothing here waits this long when all is well. */
const PATIENCE = 90_000;

const complaints = [];
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-dev-shm-usage', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist'],
});

async function openPage(address, options = {}) {
  // A page that is put in place by the test has no address on this machine, and would have to ask.
  const permissions = process.env.PAGE === 'dist' ? ['local-network-access'] : [];
  const page = await browser.newPage({ viewport: { width: 1000, height: 640 }, permissions, ...options });
  page.setDefaultTimeout(PATIENCE);
  page.on('console', (m) => ['error', 'warning'].includes(m.type()) && !/GPU stall|swiftshader/i.test(m.text()) && complaints.push(m.text()));
  page.on('pageerror', (e) => complaints.push(e.message));
  if (process.env.PAGE === 'dist') {
    const dist = fileURLToPath(new URL('../dist/', import.meta.url));
    await page.route(new URL('/**', url).href, (route) => {
      const path = new URL(route.request().url()).pathname;
      return route.fulfill({ path: join(dist, path === '/' ? 'index.html' : path) });
    });
  }
  await page.goto(address);
  await running(page);
  return page;
}

const until = (page, check, arg) => page.waitForFunction(check, arg, { timeout: PATIENCE, polling: 50 });
/** Frames of the open scene are drawn, and time goes on. */
const running = async (page) => {
  await until(page, () => window.lab?.state.opened && lab.positions(0).length === 3 * lab.state.opened.panes[0].particles && lab.reports[0]);
  const time = await page.evaluate(() => lab.reports[0].time);
  await until(page, (t) => lab.reports[0] && lab.reports[0].time !== t, time);
};
const shot = (page, name) => (folder ? page.screenshot({ path: join(folder, `${name}.png`) }) : null);

function expect(truth, message) {
  if (!truth) throw new Error(message);
}
async function quiet(page) {
  expect(complaints.length === 0, `the console says: ${complaints.join(' | ')}`);
  const text = await page.evaluate(() => document.body.innerText);
  expect(!/\bNaN\b|undefined|Infinity/.test(text), `the page shows a number that is none: ${text.match(/.{0,30}(NaN|undefined|Infinity)/)?.[0]}`);
}
const openScene = async (page, name) => {
  await page.click('#t-scene');
  await page.selectOption('#scene-menu', name);
  await until(page, (n) => lab.state.base.name === n && lab.state.opened.scene.name === n, name);
  await running(page);
};
const setField = async (page, path, value) => {
  await page.fill(`[data-path="${path}"]`, String(value));
  await page.press(`[data-path="${path}"]`, 'Enter');
};
const setPlaying = async (page, playing) => {
  if ((await page.evaluate(() => lab.state.playing)) === playing) return;
  await page.evaluate(() => document.activeElement?.blur());
  await page.keyboard.press(' ');
  await until(page, (p) => lab.state.playing === p, playing);
  if (!playing) await still(page);
};
/** Frames that were on their way when the pause began have arrived. */
const still = (page) => page.waitForFunction(() => new Promise((done) => {
  const old = lab.positions(0);
  setTimeout(() => done(lab.positions(0) === old), 400);
}));
const meanHeight = () => {
  const x = lab.positions(0);
  let sum = 0;
  for (let i = 1; i < x.length; i += 3) sum += x[i];
  return sum / (x.length / 3);
};

const tests = {
  async 'frames arrive and positions change'(page) {
    const before = await page.evaluate(() => [...lab.positions(0)]);
    const drawn = await page.evaluate(() => lab.frames());
    await until(page, (old) => lab.positions(0).some((v, i) => v !== old[i]), before);
    await until(page, (old) => lab.frames() > old, drawn);
    await shot(page, 'start');
  },

  async 'space pauses and plays'(page) {
    await setPlaying(page, false);
    await until(page, () => document.getElementById('play').getAttribute('aria-label') === 'Play');
    const [a, time] = await page.evaluate(() => [[...lab.positions(0)], lab.reports[0].time]);
    await page.keyboard.press('s');
    await until(page, (old) => lab.positions(0).some((v, i) => v !== old[i]), a);
    await setPlaying(page, true);
    await until(page, (t) => lab.reports[0].time > t, time);
  },

  async 'a particle is pulled to the cursor and let go'(page) {
    await setPlaying(page, false);
    const grip = await page.evaluate(() => {
      // The lowest free particle: there is slack above it.
      const pins = new Set(lab.state.pins);
      let best = null;
      for (let i = 0; i < lab.positions(0).length / 3; i++) {
        if (pins.has(i)) continue;
        const at = lab.particleOnScreen(i);
        const over = document.elementFromPoint(at.x, at.y);
        if ((!best || at.y > best.y) && over?.id === 'canvas' && lab.pick(at.x, at.y) === i) best = { i, ...at };
      }
      return best;
    });
    expect(grip, 'no free particle can be picked');
    await page.mouse.move(grip.x, grip.y);
    await until(page, (i) => lab.state.hovered === i, grip.i);
    const to = { x: grip.x + 15, y: grip.y - 60 };
    await page.mouse.down();
    await page.mouse.move(to.x, to.y, { steps: 5 });
    await until(page, (i) => lab.state.pulled === i, grip.i);
    await setPlaying(page, true);
    const off = ([i, t]) => { const p = lab.particleOnScreen(i); return Math.hypot(p.x - t.x, p.y - t.y); };
    const start = Math.hypot(15, 60);
    await until(page, ([i, t, d]) => { const p = lab.particleOnScreen(i); return Math.hypot(p.x - t.x, p.y - t.y) < 0.4 * d; }, [grip.i, to, start]);
    await shot(page, 'pulled');
    await page.mouse.up();
    const held = await page.evaluate(off, [grip.i, to]);
    await until(page, ([i, t, d]) => { const p = lab.particleOnScreen(i); return lab.state.pulled === null && Math.hypot(p.x - t.x, p.y - t.y) > d; }, [grip.i, to, held + 15]);
  },

  async 'a click pins a particle and another lets it go'(page) {
    await setPlaying(page, false);
    const pins = await page.evaluate(() => lab.state.pins.length);
    const at = await page.evaluate(() => {
      const free = (i) => !lab.state.pins.includes(i);
      for (let i = 0; i < lab.positions(0).length / 3; i++) {
        const p = lab.particleOnScreen(i);
        const over = document.elementFromPoint(p.x, p.y);
        if (free(i) && over?.id === 'canvas' && lab.pick(p.x, p.y) === i) return p;
      }
      return null;
    });
    await page.mouse.click(at.x, at.y);
    await until(page, (n) => lab.state.pins.length === n + 1, pins);
    await page.mouse.click(at.x, at.y);
    await until(page, (n) => lab.state.pins.length === n, pins);
    await setPlaying(page, true);
  },

  async 'gravity turned round lifts the cloth; undo brings it back'(page) {
    const before = await page.evaluate(meanHeight);
    await setField(page, 'gravity.1', 15);
    await until(page, (h) => {
      const x = lab.positions(0);
      let sum = 0;
      for (let i = 1; i < x.length; i += 3) sum += x[i];
      return sum / (x.length / 3) > h + 0.05;
    }, before);
    expect((await page.evaluate(() => lab.state.scene.gravity[1])) === 15, 'gravity is not in the scene');
    await page.keyboard.press('Control+z');
    await until(page, () => lab.state.scene.gravity[1] === -9.81 && lab.state.opened.scene.gravity[1] === -9.81);
  },

  async 'a value out of range is refused and taken back'(page) {
    await setField(page, 'dt', 1e9);
    await page.waitForSelector('.toast.error');
    await until(page, () => lab.state.scene.dt === lab.state.base.dt);
    await until(page, () => Number(document.querySelector('[data-path=dt]').value) < 1);
    await running(page);
  },

  async 'another grid has other particles'(page) {
    await openScene(page, 'hang');
    const n = await page.evaluate(() => lab.state.opened.panes[0].particles);
    await setField(page, 'cloth.0.columns', 9);
    await until(page, (old) => lab.state.opened.panes[0].particles !== old && lab.positions(0).length === 3 * lab.state.opened.panes[0].particles, n);
    await running(page);
    await page.click('#own-values');
    await until(page, (old) => lab.state.opened.panes[0].particles === old, n);
    await openScene(page, 'bunting');
  },

  async 'two panes show two methods'(page) {
    await page.click('#t-methods');
    await page.selectOption('#method-menu-0', 'xpbd');
    await until(page, () => document.querySelector('.caption-name').textContent.includes('xpbd'));
    await page.click('#add-pane');
    await until(page, () => lab.state.opened.panes.length === 2 && lab.positions(1).length > 0 && lab.reports[1]);
    const captions = await page.$$eval('.caption-name', (all) => all.map((e) => e.textContent));
    expect(captions.length === 2 && captions[0] !== captions[1], `captions are ${captions}`);
    await running(page);
    for (const key of ['2', '3', '4', '1']) {
      await page.keyboard.press(key);
      const drawn = await page.evaluate(() => lab.frames());
      await until(page, (old) => lab.frames() > old, drawn);
      await shot(page, `view-${key}`);
    }
  },

  async 'a link restores scene, edits and methods'(page) {
    await setField(page, 'method.0.sweeps', 7);
    await page.click('#t-scene');
    await setField(page, 'air.wind.0', 2.5);
    await setField(page, 'substeps', 2);
    await until(page, () => lab.state.opened.scene.substeps === 2 && lab.state.opened.scene.air.wind[0] === 2.5 && lab.state.opened.panes[0].method.sweeps === 7);
    await page.click('#copy-link');
    await until(page, () => location.hash.length > 1);
    const state = () => JSON.stringify([lab.state.opened.scene, lab.state.opened.panes.map((p) => p.method)]);
    const [here, address] = [await page.evaluate(state), await page.evaluate(() => location.href)];
    const other = await openPage(address);
    await until(other, () => lab.state.opened.scene.substeps === 2);
    const there = await other.evaluate(state);
    await quiet(other);
    await other.close();
    expect(here === there, `the link restores something else:\n${here}\n${there}`);
  },

  async 'every scene runs and shows numbers only'(page) {
    await page.click('#t-methods');
    await page.click('[aria-label="Remove pane 2"]');
    await page.selectOption('#method-menu-0', 'implicit-euler');
    await until(page, () => lab.state.opened.panes.length === 1 && lab.state.opened.panes[0].method.id === 'implicit-euler');
    const names = await page.evaluate(() => lab.state.catalogue.scenes.map((s) => s.name));
    for (const name of names) {
      await openScene(page, name);
      const bad = await page.evaluate(() => lab.positions(0).findIndex((v) => !Number.isFinite(v)));
      expect(bad < 0, `${name}: position ${bad} is not finite`);
      await page.click('#t-numbers');
      await quiet(page);
      await shot(page, `scene-${name}`);
    }
  },

  async 'nothing scrolls sideways, on a desk or a phone'(page) {
    const phone = await openPage(url, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
    for (const p of [page, phone]) {
      const over = await p.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect(over <= 0, `the page is ${over} pixels too wide`);
    }
    await shot(phone, 'phone');
    await phone.close();
  },
};

let failed = false;
const page = await openPage(url).catch((error) => {
  console.error(`FAIL  the page does not start: ${error.message} ${complaints.join(' | ')}`);
  process.exit(1);
});
for (const [name, test] of Object.entries(tests)) {
  const began = performance.now();
  try {
    await test(page);
    await quiet(page);
    console.log(`ok    ${name} (${((performance.now() - began) / 1000).toFixed(1)} s)`);
  } catch (error) {
    failed = true;
    console.error(`FAIL  ${name}: ${error.message}`);
    await shot(page, 'failure');
    break;
  }
}
await browser.close();
mock?.close();
process.exit(failed ? 1 : 0);

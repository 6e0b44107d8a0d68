// A headless browser on the lab, in which every wait has an end and says what it waited for.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

/** Software rendering on a shared machine is slow; nothing waits this long when all is well. [ms] */
export const PATIENCE = 90_000;
/** Wide enough for the panel beside the stage, and otherwise small: software draws every pixel. */
export const DESK = { width: 900, height: 520 };
export const PHONE = { width: 390, height: 844 };

/** The promise, or an error that names what was waited for. */
export function within(promise, what, ms = PATIENCE) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`waited ${ms / 1000} s for ${what}`)), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

export function expect(truth, message) {
  if (!truth) throw new Error(message);
}

export class Browser {
  /** What the console of any page complained about. */
  complaints = [];

  static async launch(url, folder) {
    const browser = new Browser();
    browser.url = url;
    browser.folder = folder;
    if (folder) mkdirSync(folder, { recursive: true });
    // Pages behind another must go on drawing, as windows side by side do.
    browser.chromium = await within(chromium.launch({
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
      args: [
        '--no-sandbox', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update',
        '--disable-sync', '--disable-dev-shm-usage', '--use-angle=swiftshader', '--enable-unsafe-swiftshader',
        '--ignore-gpu-blocklist', '--disable-background-timer-throttling', '--disable-backgrounding-occluded-windows',
        '--disable-renderer-backgrounding',
      ],
    }), 'the browser to start');
    return browser;
  }

  close() {
    return within(this.chromium.close(), 'the browser to close', 10_000).catch(() => {});
  }

  async open(address = this.url, options = {}) {
    // A page that is put in place by the test has no address on this machine, and would have to ask.
    const fromDist = process.env.PAGE === 'dist';
    const permissions = fromDist ? ['local-network-access'] : [];
    const page = await within(this.chromium.newPage({ viewport: DESK, permissions, acceptDownloads: true, ...options }), 'a new tab');
    page.setDefaultTimeout(PATIENCE);
    page.on('console', (m) => {
      if (['error', 'warning'].includes(m.type()) && !/GPU stall|swiftshader/i.test(m.text())) this.complaints.push(m.text());
    });
    page.on('pageerror', (e) => this.complaints.push(e.message));
    if (fromDist) {
      const dist = fileURLToPath(new URL('../dist/', import.meta.url));
      await page.route(new URL('/**', this.url).href, (route) => {
        const path = new URL(route.request().url()).pathname;
        return route.fulfill({ path: join(dist, path === '/' ? 'index.html' : path) });
      });
    }
    await page.goto(address);
    const tab = new Tab(page, this);
    await tab.running();
    return tab;
  }
}

/** One page of the lab. */
export class Tab {
  constructor(page, browser) {
    this.page = page;
    this.browser = browser;
  }

  /** Evaluates in the page. */
  ask(what, expression, arg) {
    return within(this.page.evaluate(expression, arg), what);
  }

  /** Waits until a check in the page is true. */
  until(what, check, arg, ms = PATIENCE) {
    return within(this.page.waitForFunction(check, arg, { timeout: 0, polling: 30 }), what, ms);
  }

  close() {
    return within(this.page.context().close(), 'a tab to close');
  }

  shot(name) {
    const { folder } = this.browser;
    return folder ? within(this.page.screenshot({ path: join(folder, `${name}.png`) }), `the screenshot ${name}`) : null;
  }

  /** Frames of the open scene arrive, and time goes on. */
  async running() {
    await this.until('a scene to open', () => window.lab?.state.opened && lab.positions(0).length === 3 * lab.state.opened.panes[0].particles && lab.reports[0]);
    const time = await this.ask('the time', () => lab.time(0));
    await this.until('the time to go on', (t) => lab.time(0) !== t, time);
  }

  /** The console is empty and the page shows no number that is none. */
  async quiet() {
    const { complaints } = this.browser;
    expect(complaints.length === 0, `the console says: ${complaints.join(' | ')}`);
    const text = await this.ask('the text of the page', () => document.body.innerText);
    expect(!/\bNaN\b|undefined|Infinity/.test(text), `the page shows a number that is none: ${text.match(/.{0,30}(NaN|undefined|Infinity)/)?.[0]}`);
  }

  /** Opens a scene with edits and methods by the page's own link, and stops it at its start. */
  async openLink(scene, { edits = {}, methods = ['implicit-euler'], paused = true } = {}) {
    await this.ask(`the link to ${scene}`, async ([scene, edits, methods, paused, patience]) => {
      const wait = async (what, check) => {
        for (const end = performance.now() + patience; !check(); await new Promise((next) => setTimeout(next, 10))) {
          if (performance.now() > end) throw new Error(`waited ${patience / 1000} s for ${what}`);
        }
      };
      const old = lab.state.opened;
      const link = { s: scene, m: methods, ...(Object.keys(edits).length ? { e: edits } : {}), n: lab.frames() };
      location.hash = btoa(JSON.stringify(link)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
      const at = (path) => path.split('.').reduce((value, key) => value?.[key], lab.state.opened.scene);
      await wait(`${scene} with its edits`, () => lab.state.opened !== old && lab.state.opened.scene.name === scene
        && lab.state.opened.panes.map((p) => p.method.id).join() === methods.map((m) => (Array.isArray(m) ? m[0] : m)).join()
        && Object.entries(edits).every(([path, value]) => JSON.stringify(at(path) ?? null) === JSON.stringify(value)));
      if (!paused) return;
      if (lab.state.playing) document.getElementById('play').click();
      await wait('the pause', () => !lab.state.playing);
      await lab.fromStart(0);
    }, [scene, edits, methods, paused, PATIENCE - 5000]);
    if (!paused) await this.running();
  }

  /** Positions after so many frames from the start, as an array. */
  fromStart(frames) {
    return this.ask(`${frames} frames from the start`, async (n) => [...await lab.fromStart(n)], frames);
  }

  async setField(path, value) {
    const field = this.page.locator(`[data-path="${path}"]`);
    const tag = await within(field.evaluate((e) => `${e.tagName} ${e.type}`), `the control ${path}`);
    if (tag.startsWith('SELECT')) await field.selectOption(String(value));
    else if (tag.endsWith('checkbox')) await field.setChecked(Boolean(value));
    else {
      await field.fill(String(value));
      await field.press('Enter');
    }
  }

  async playing(playing) {
    await this.ask('play or pause', (wanted) => {
      if (lab.state.playing !== wanted) document.getElementById('play').click();
    }, playing);
    await this.heard(playing);
  }

  /** The workbench runs, or has stopped and no frame is on its way any more. */
  heard(playing) {
    return this.until(playing ? 'the engine to run' : 'the engine to stop', (p) => lab.state.playing === p && lab.reports[0]?.playing === p, playing);
  }

  /** What a click downloads: its name and bytes. */
  async download(what, click) {
    const [file] = await within(Promise.all([this.page.waitForEvent('download'), click()]), what);
    const stream = await within(file.createReadStream(), what);
    const parts = [];
    for await (const part of stream) parts.push(part);
    return { name: file.suggestedFilename(), bytes: Buffer.concat(parts) };
  }

  /** A particle that can be gripped: the lowest free one on screen that no other hides. */
  grip() {
    return this.ask('a particle to grip', () => {
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
  }
}

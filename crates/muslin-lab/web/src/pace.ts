// Watches how long pictures take and says when to draw with less effort.

const LEVELS = [
  { pixelRatio: 2, shadowSize: 2048 },
  { pixelRatio: 1, shadowSize: 1024 },
  { pixelRatio: 0.75, shadowSize: 512 },
  { pixelRatio: 0.75, shadowSize: 0 },
];
/** Pictures looked at before deciding; fewer where they take very long together. [ms] */
const WINDOW = 20;
const FEWEST = 6;
const LONG = 1500;
/** Milliseconds per picture that are too many. */
const SLOW = 55;
/** Milliseconds without a new picture after which a careful one can be afforded. */
const STILL = 350;

export class Pace {
  private level = 0;
  private last = 0;
  private restedSince = 0;
  private careful = false;
  private times: number[] = [];

  get pixelRatio(): number {
    return LEVELS[this.careful ? 0 : this.level]!.pixelRatio;
  }

  get shadowSize(): number {
    return LEVELS[this.careful ? 0 : this.level]!.shadowSize;
  }

  /** Whether the weave and what is near the ground can be afforded. */
  get fine(): boolean {
    return this.careful || this.level < 2;
  }

  /**
   * Nothing was drawn: the time until the next picture says nothing about the machine. True when
   * it has rested so long that one picture should be drawn with all effort.
   */
  rest(): boolean {
    const now = performance.now();
    if (this.last > 0) this.restedSince = now;
    this.last = 0;
    if (this.level === 0 || this.careful || now - this.restedSince < STILL) return false;
    return (this.careful = true);
  }

  /** A picture is being drawn; true when the effort has just changed. */
  drew(): boolean {
    const now = performance.now();
    if (this.careful) {
      this.careful = false;
      this.last = now;
      return true;
    }
    // Longer pauses are hidden tabs and sleeping machines.
    if (this.last > 0 && now - this.last < 2000) this.times.push(now - this.last);
    this.last = now;
    const long = this.times.length >= FEWEST && this.times.reduce((sum, t) => sum + t, 0) > LONG;
    if (this.times.length < WINDOW && !long) return false;
    const middle = this.times.sort((a, b) => a - b)[this.times.length >> 1]!;
    this.times = [];
    if (middle < SLOW || this.level === LEVELS.length - 1) return false;
    this.level++;
    return true;
  }
}

// Watches how long pictures take and says when to draw with less effort.

const LEVELS = [
  { pixelRatio: 2, shadowSize: 2048 },
  { pixelRatio: 1, shadowSize: 1024 },
  { pixelRatio: 0.75, shadowSize: 512 },
  { pixelRatio: 0.75, shadowSize: 0 },
];
/** Pictures looked at before deciding. */
const WINDOW = 20;
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
    if (this.times.length < WINDOW) return false;
    const middle = this.times.sort((a, b) => a - b)[WINDOW / 2]!;
    this.times = [];
    if (middle < SLOW || this.level === LEVELS.length - 1) return false;
    this.level++;
    return true;
  }
}

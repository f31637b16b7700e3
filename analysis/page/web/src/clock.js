// One clock for all that is shown: plays, pauses, steps from event to event, and is scrubbed.
export class Clock extends EventTarget {
  constructor(end) {
    super();
    this.end = end;
    this.t = end;
    this.playing = false;
    this.factor = 1;
    this.events = [];
    this.last = 0;
  }
  // Simulated ns for each real second: the whole takes half a minute at factor 1.
  get rate() { return (this.end / 30) * this.factor; }
  changed() { this.dispatchEvent(new Event("change")); }
  reset(end, events) {
    this.end = end;
    this.events = events;
    this.t = Math.min(this.t, end);
    this.changed();
  }
  seek(t) {
    this.t = Math.max(0, Math.min(this.end, t));
    this.changed();
  }
  play(on) {
    if (on && this.t >= this.end) this.t = 0;
    this.playing = on;
    this.last = performance.now();
    this.changed();
  }
  faster(times) {
    this.factor = Math.max(1 / 1024, Math.min(1024, this.factor * times));
    this.changed();
  }
  // To the next event after now, or the one before.
  step(direction) {
    this.playing = false;
    let low = 0, high = this.events.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (direction > 0 ? this.events[middle] <= this.t : this.events[middle] < this.t) low = middle + 1;
      else high = middle;
    }
    this.seek(direction > 0 ? this.events[low] ?? this.end : this.events[low - 1] ?? 0);
  }
  tick(real) {
    if (!this.playing) return false;
    this.t += ((real - this.last) / 1000) * this.rate;
    this.last = real;
    if (this.t >= this.end) {
      this.t = this.end;
      this.playing = false;
    }
    this.changed();
    return true;
  }
}

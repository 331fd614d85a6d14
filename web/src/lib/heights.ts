// The heights of many rows, of which most were never measured: where a row begins and which row is
// at a place, in logarithmic time (a Fenwick tree).
export class Heights {
  private heights: Float64Array;
  private tree: Float64Array;
  private size = 0;

  constructor(private readonly estimate: number) {
    this.heights = new Float64Array(64);
    this.tree = new Float64Array(65);
  }

  get count(): number {
    return this.size;
  }

  resize(count: number): void {
    if (count > this.heights.length) {
      const capacity = Math.max(count, this.heights.length * 2);
      const grown = new Float64Array(capacity);
      grown.set(this.heights.subarray(0, this.size));
      this.heights = grown;
      this.tree = new Float64Array(capacity + 1);
    }
    this.heights.fill(this.estimate, Math.min(this.size, count), count);
    this.heights.fill(0, count);
    this.size = count;
    this.tree.fill(0);
    for (let index = 1; index < this.tree.length; ++index) {
      this.tree[index]! += this.heights[index - 1]!;
      const above = index + (index & -index);
      if (above < this.tree.length) this.tree[above]! += this.tree[index]!;
    }
  }

  of(index: number): number {
    return this.heights[index] ?? 0;
  }

  // Whether that was a change.
  set(index: number, height: number): boolean {
    const change = height - this.heights[index]!;
    if (Math.abs(change) < 0.01) return false;
    this.heights[index] = height;
    for (let at = index + 1; at < this.tree.length; at += at & -at) this.tree[at]! += change;
    return true;
  }

  // Where the row begins; that of `count` is the height of all.
  top(index: number): number {
    let sum = 0;
    for (let at = Math.min(index, this.size); at > 0; at -= at & -at) sum += this.tree[at]!;
    return sum;
  }

  get total(): number {
    return this.top(this.size);
  }

  // The row at that place; the last one beyond the end.
  at(place: number): number {
    let index = 0;
    let left = place;
    for (let step = highestBit(this.tree.length - 1); step > 0; step >>= 1) {
      const next = index + step;
      if (next < this.tree.length && this.tree[next]! <= left) {
        index = next;
        left -= this.tree[next]!;
      }
    }
    return Math.max(0, Math.min(index, this.size - 1));
  }
}

function highestBit(value: number): number {
  return value < 1 ? 0 : 1 << (31 - Math.clz32(value));
}

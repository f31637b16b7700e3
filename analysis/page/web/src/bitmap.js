// Very many small cells as one bitmap: what each pixel shows is found once for a size, its colour at each moment. 131,072 GPUs as rectangles
// take 0.3 s, as pixels some milliseconds.
const probe = document.createElement("canvas").getContext("2d");

// A colour as the four bytes of a pixel, in the order of this machine.
function pixel(colour) {
  probe.fillStyle = colour; // read back as #rrggbb
  const [r, g, b] = [1, 3, 5].map((i) => parseInt(probe.fillStyle.slice(i, i + 2), 16));
  return new Uint32Array(new Uint8ClampedArray([r, g, b, 255]).buffer)[0];
}

export class Bitmap {
  // `key`: what the places depend on; `at(x, y)`: the number of what stands there, x and y in CSS pixels; -1: nothing.
  find(element, key, at) {
    const { width, height } = element, ratio = width / Math.max(1, element.clientWidth), whole = [width, height, key].join();
    if (whole === this.key || width === 0 || height === 0) return;
    this.key = whole;
    this.owners = new Int32Array(width * height);
    for (let y = 0, i = 0; y < height; y++) for (let x = 0; x < width; x++, i++) this.owners[i] = at((x + 0.5) / ratio, (y + 0.5) / ratio);
    this.image = new ImageData(width, height);
    this.pixels = new Uint32Array(this.image.data.buffer);
  }
  // `colours`: of each number.
  draw(g, colours) {
    if (!this.owners) return;
    const of = colours.map(pixel), { owners, pixels } = this;
    for (let i = 0; i < owners.length; i++) pixels[i] = owners[i] < 0 ? 0 : of[owners[i]];
    g.putImageData(this.image, 0, 0);
  }
}

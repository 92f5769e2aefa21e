/**
 * Bands of noisy lines, set pixel by pixel. A panel of six lines of 10^5 rows has about twenty thousand bars
 * per frame: without a graphics card, a canvas takes several times as long for them as writing the pixels.
 */
import { bars, type Points } from "./decimate";

export interface Band {
  points: Points;
  /** `#rrggbb` */
  colour: string;
  /** From 0 to 1. */
  alpha: number;
}

/** A colour in the byte order of an image, on a little-endian machine. */
export function pixel(colour: string, alpha: number): number {
  const rgb = Number.parseInt(colour.slice(1), 16);
  const [red, green, blue] = [(rgb >> 16) & 255, (rgb >> 8) & 255, rgb & 255];
  return ((Math.round(alpha * 255) << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

/** Writes the bars of a line into an image of `width` pixels a row; the last line is on top. */
export function fillBars(
  image: Uint32Array,
  width: number,
  height: number,
  points: Points,
  place: (y: number) => number,
  value: number,
): void {
  bars(points, (at, low, high) => {
    const x = Math.floor(at);
    if (x < 0 || x >= width) return;
    const top = Math.max(0, Math.floor(place(high)));
    const bottom = Math.min(height - 1, Math.floor(place(low)));
    for (let i = top * width + x, end = bottom * width + x; i <= end; i += width) image[i] = value;
  });
}

export class Raster {
  #canvas = document.createElement("canvas");
  #image: ImageData | null = null;

  /** Draws bands into a box of a canvas; `place` is from the top of the box. */
  draw(
    ctx: CanvasRenderingContext2D,
    box: { left: number; top: number; width: number; height: number },
    bands: readonly Band[],
    place: (y: number) => number,
  ): void {
    const [width, height] = [Math.round(box.width), Math.round(box.height)];
    if (bands.length === 0 || width < 1 || height < 1) return;
    const own = this.#canvas.getContext("2d");
    if (!own) return;
    let image = this.#image;
    if (!image || image.width !== width || image.height !== height) {
      Object.assign(this.#canvas, { width, height });
      image = own.createImageData(width, height);
      this.#image = image;
    }
    const pixels = new Uint32Array(image.data.buffer);
    pixels.fill(0);
    for (const { points, colour, alpha } of bands) {
      // A canvas returns any CSS colour as `#rrggbb`.
      own.fillStyle = colour;
      const hex = String(own.fillStyle);
      fillBars(pixels, width, height, points, place, pixel(hex, alpha));
    }
    own.putImageData(image, 0, 0);
    ctx.drawImage(this.#canvas, box.left, box.top);
  }
}

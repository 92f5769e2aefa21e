import { describe, expect, it } from "vitest";
import { distribution, mean, percentile, shareUpTo, steps } from "../src/data/stats";
import { drawing } from "./fixture";

describe("percentile", () => {
  it("is a value that occurred, as in the program", () => {
    const hundred = distribution(Array.from({ length: 100 }, (_, i) => i + 1));
    expect([10, 50, 90, 100].map((p) => percentile(hundred, p))).toEqual([10, 50, 90, 100]);
    expect(percentile(distribution([7]), 10)).toBe(7);
    expect(percentile(distribution([3, 1, 2]), 0)).toBe(1);
    expect(percentile(distribution([1, 2, 3]), 34)).toBe(2);
  });

  it("of nothing is no number", () => {
    expect(percentile(distribution([]), 50)).toBeNaN();
    expect(percentile(distribution([Number.NaN]), 50)).toBeNaN();
  });

  it("counts weights", () => {
    const weighed = distribution([5, 0, 7, 5], [1, 2, 1, 1]);
    expect(weighed.count).toBe(5);
    expect([40, 41, 80, 81, 100].map((p) => percentile(weighed, p))).toEqual([0, 5, 5, 7, 7]);
    expect(mean(weighed)).toBeCloseTo(17 / 5);
  });

  it("does not see what is missing", () => {
    const values = distribution([Number.NaN, 4, 2, Number.NaN]);
    expect(values.count).toBe(2);
    expect(mean(values)).toBe(3);
  });
});

describe("share", () => {
  it("is of the values that are no more", () => {
    const values = distribution([1, 2, 2, 4]);
    expect([0, 1, 1.5, 2, 3, 4, 9].map((x) => shareUpTo(values, x))).toEqual([
      0, 0.25, 0.25, 0.75, 0.75, 1, 1,
    ]);
    expect(shareUpTo(distribution([1, 3], [3, 1]), 2)).toBe(0.75);
  });
});

describe("steps", () => {
  const [width, height] = [600, 300];
  const random = drawing(5);
  const cases: [string, Float64Array][] = [
    ["skewed", Float64Array.from({ length: 200_000 }, () => random() ** 3)],
    [
      "in two heaps",
      Float64Array.from({ length: 50_000 }, (_, i) => (i % 2 ? random() * 0.01 : 0.9 + random() * 0.1)),
    ],
    ["of few values", Float64Array.from({ length: 1000 }, (_, i) => (i % 5) / 4)],
    [
      "one heap and one far away",
      Float64Array.from([...Array.from({ length: 5000 }, () => random() * 0.001), 1]),
    ],
  ];
  it.each(cases)("of a distribution that is %s draw it within half a pixel", (_, values) => {
    const of = distribution(values);
    const drawn = steps(
      of,
      (x) => Math.floor(x * width * 2),
      (share) => Math.floor(share * height * 2),
    );
    expect(drawn.length).toBeLessThan(1300);
    expect(drawn[0]?.x).toBe(of.values[0]);
    expect(drawn.at(-1)).toEqual({ x: of.values.at(-1), share: 1 });
    // The drawn curve at x, and how far the true one is from it: across or upwards, whichever is nearer.
    const shareAt = (x: number) => {
      let share = 0;
      for (const step of drawn) {
        if (step.x > x) break;
        share = step.share;
      }
      return share;
    };
    for (let i = 0; i < of.values.length; i += 97) {
      const x = of.values[i] as number;
      const truth = shareUpTo(of, x);
      const half = 0.5 / width;
      const [low, high] = [shareAt(x - half), shareAt(x + half)];
      const off = truth < low ? low - truth : truth > high ? truth - high : 0;
      expect(off * height).toBeLessThanOrEqual(0.51);
    }
  });
});

import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { looks } from "../src/charts/series";
import { placesOf, schemeStyles, styleAt } from "../src/data/colour";
import { PLACES } from "../src/data/schemes";
import { fixtureRun, pageHead, XMP } from "./fixture";

/** Also read by `python/tests/test_plot.py`: the page and Python agree. */
const LISTS: { names: string[]; places: number[] }[] = JSON.parse(
  readFileSync(new URL("palette.json", import.meta.url), "utf8"),
);

describe("places in the palette", () => {
  it.each(LISTS)("of $names", ({ names, places }) => {
    expect([...placesOf(names)]).toEqual(names.map((name, i) => [name, places[i]]));
  });

  it("of a built-in scheme are the same in every experiment, whatever stands beside it", () => {
    const wish = (schemes: (typeof XMP)["schemes"]) => pageHead([fixtureRun({ ...XMP, schemes }).run]);
    const alone = schemeStyles(wish([["xmp", 4, 7e8]]));
    const beside = schemeStyles(wish(XMP.schemes));
    expect(alone.get("xmp-4")).toEqual(styleAt(PLACES.get("xmp-4") as number));
    expect(beside.get("xmp-4")).toEqual(alone.get("xmp-4"));
    expect(new Set([...beside.values()].map((style) => style.colour)).size).toBe(5);
  });

  it("of a scheme without its subflows is that of its first number", () => {
    const { run } = fixtureRun(XMP);
    const look = looks(pageHead([run]), "scheme", ["dctcp", "lia", "xmp"]);
    expect(look("xmp", 0).colour).toBe(looks(pageHead([run]), "scheme", ["xmp-2"])("xmp-2", 0).colour);
    expect(look("dctcp", 0).colour).not.toBe(look("lia", 0).colour);
  });
});

/** Selects the interval for the colours, or the whole run; can be played. */
import { useEffect, useState } from "preact/hooks";
import { formatted } from "../data/format";
import type { Intervals } from "./values";

/** A round is played in about this many seconds, however many intervals it has. */
const SECONDS = 12;
const FRAME = 80;

export interface TimelineProps {
  intervals: Intervals;
  interval: number | null;
  onChange: (interval: number | null) => void;
}

export function Timeline({ intervals, interval, onChange }: TimelineProps) {
  const [playing, setPlaying] = useState(false);
  const { count } = intervals;
  // Without motion, it advances in steps of one second.
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const pause = still ? 1000 : FRAME;
  const step = Math.max(1, Math.round((count * pause) / (SECONDS * 1000)));
  useEffect(() => {
    if (!playing) return;
    const next = (interval ?? -1) + step;
    const timer = setTimeout(() => {
      if (next >= count) setPlaying(false);
      else onChange(next);
    }, pause);
    return () => clearTimeout(timer);
  }, [playing, interval, count, step, pause]);
  const now =
    interval === null ? "whole run" : formatted("at_s", intervals.from + interval * intervals.step, 5);
  return (
    <div class="fabric-time" data-no-print>
      <button
        type="button"
        aria-pressed={playing}
        onClick={() => {
          if (!playing && interval !== null && interval + step >= count) onChange(0);
          setPlaying(!playing);
        }}
      >
        {playing ? "Pause" : "Play"}
      </button>
      <input
        type="range"
        aria-label="Interval"
        aria-valuetext={now}
        min={0}
        max={count - 1}
        value={interval ?? 0}
        onInput={(event) => {
          setPlaying(false);
          onChange(Number(event.currentTarget.value));
        }}
      />
      <output>{now}</output>
      <button
        type="button"
        class="quiet"
        style={{ visibility: interval === null ? "hidden" : "visible" }}
        onClick={() => {
          setPlaying(false);
          onChange(null);
        }}
      >
        Whole run
      </button>
    </div>
  );
}

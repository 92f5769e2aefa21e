/** The message of an open page about runs that no longer exist. */
import type { LivePage } from "./live";

export function Gone({ page }: { page: LivePage }) {
  const { gone, connection } = page;
  return (
    <div role="status" aria-live="polite">
      {gone.length > 0 && (
        <p class="message error">
          {gone.length === 1
            ? `The folder of ${gone[0]} is gone`
            : `The folders of ${gone.join(", ")} are gone`}
          : this page shows what was read before. <a href="#/">All runs</a>
        </p>
      )}
      {connection === "lost" && gone.length === 0 && (
        <p class="message">No connection to tresse view: this page may be out of date.</p>
      )}
    </div>
  );
}

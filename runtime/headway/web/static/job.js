"use strict";

// Keeps a job's page up to date: when the job has changed, the page is fetched again, and its live parts take the old
// ones' places. Cancels the job when the page is left, where that was asked for.

const acts = document.getElementById("acts");
const job = acts.dataset.job;
const leave = document.getElementById("leave");
const AGAIN_MS = 2000;
let ended = false;
let fetching = false;
let again = false;

function take(fresh) {
  for (const old of document.querySelectorAll("[data-live]")) {
    const part = fresh.getElementById(old.id);
    if (!part) old.remove();
    else if (old.dataset.live !== "keep" && old.innerHTML !== part.innerHTML) old.replaceWith(part);
  }
}

async function refresh() {
  if (fetching) {
    again = true;
    return;
  }
  fetching = true;
  try {
    do {
      again = false;
      const answer = await fetch(location.pathname);
      if (answer.status === 401) location.reload();
      else if (answer.ok) take(new DOMParser().parseFromString(await answer.text(), "text/html"));
    } while (again);
  } catch {
    // The network is away; the next event brings what was missed.
  } finally {
    fetching = false;
  }
}

function follow() {
  const events = new EventSource(`/jobs/${job}/events`);
  events.addEventListener("job", refresh);
  events.addEventListener("end", () => {
    ended = true;
    events.close();
    refresh();
  });
  // A browser opens a stream that broke again by itself, but gives up one that was refused.
  events.addEventListener("error", () => {
    if (ended || events.readyState !== EventSource.CLOSED) return;
    refresh();
    setTimeout(follow, AGAIN_MS);
  });
}

follow();

document.getElementById("reload").hidden = true;
document.getElementById("leaving").hidden = false;
addEventListener("pagehide", () => {
  if (ended || !leave.checked) return;
  const why = new Blob([JSON.stringify({ reason: "the page was left" })], { type: "application/json" });
  navigator.sendBeacon(`/jobs/${job}/cancel`, why);
});

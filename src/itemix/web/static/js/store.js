// The one place that holds the state. Every change is a step of the history; moves of one slider are one step.

const PAUSE = 1500; // milliseconds after which another move of the same control is a step of its own
const MOST_WRITES = 120; // browsers refuse more than 200 changes of the address in ten seconds
const WINDOW = 10_000;

/** Make the store; `decode` reads an address, `encode` writes one, and `render` draws a state. */
export function createStore({ decode, encode, render }) {
  let state = decode(location.search);
  let step = { name: null, at: 0 };
  let writes = [];
  let late = null;
  history.scrollRestoration = "manual";

  addEventListener("popstate", async (event) => {
    clearTimeout(late);
    step = { name: null, at: 0 };
    state = decode(location.search);
    await render(state);
    scrollTo(0, event.state?.scroll ?? 0);
  });

  /** Go to another state. Changes by the same control, shortly after each other or while it is held, are one step. */
  function put(next, { control = null, isHeld = false } = {}) {
    if (encode(next) === encode(state)) return null;
    const now = performance.now();
    const isSame = control !== null && control === step.name && (isHeld || now - step.at < PAUSE);
    step = { name: control, at: now };
    state = next;
    if (isSame) rewrite(now);
    else {
      clearTimeout(late);
      history.replaceState({ scroll: scrollY }, "");
      history.pushState(null, "", encode(state));
    }
    return render(state);
  }

  function rewrite(now) {
    clearTimeout(late);
    writes = writes.filter((at) => now - at < WINDOW);
    const write = () => {
      writes.push(performance.now());
      history.replaceState(null, "", encode(state));
    };
    if (writes.length < MOST_WRITES) write();
    else late = setTimeout(write, 300);
  }

  return {
    get state() {
      return state;
    },
    put,
    /** Correct the state without a step: what the address says cannot be had. */
    correct: (next) => {
      clearTimeout(late);
      state = next;
      history.replaceState(history.state, "", encode(state));
    },
  };
}

// Questions to the server. Whoever has a token gives it after the # of the address, which no server sees.

const TOKEN_KEY = "itemix-token";

export class Refused extends Error {
  constructor({ code, message, lowest_min_support: lowest = null }) {
    super(message);
    this.code = code;
    this.lowest = lowest;
  }
}

/** Keep the token of the address for this tab, and take it out of the address. */
export function takeToken() {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (!given) return;
  sessionStorage.setItem(TOKEN_KEY, given);
  history.replaceState(null, "", location.pathname + location.search);
}

export function hasToken() {
  return sessionStorage.getItem(TOKEN_KEY) !== null;
}

function headers() {
  return hasToken() ? { authorization: `Bearer ${sessionStorage.getItem(TOKEN_KEY)}` } : {};
}

/** Return the address of a question; lists repeat their name, what is empty is left out. */
export function questionUrl(path, values) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== null && one !== undefined && one !== "") query.append(name, one);
    }
  }
  return `${path}?${query}`;
}

/** Fetch an answer; a server that has ended is told apart from one that refuses. */
async function fetched(url, options = {}) {
  try {
    return await fetch(url, { ...options, headers: { ...headers(), ...options.headers } });
  } catch {
    throw new Refused({ code: "no_server", message: "The server does not answer. Is itemix still running?" });
  }
}

// The last answers: whoever goes back sees at once what was there. A model answers the same each time.
const REMEMBERED = 24;
const answers = new Map();

/** Ask, and return the answer; what is refused is thrown. */
export async function ask(path, values = {}) {
  const url = questionUrl(path, values);
  let answer = answers.get(url);
  if (answer === undefined) {
    const response = await fetched(url);
    answer = await response.json();
    if (!response.ok) throw new Refused(answer.error);
  }
  answers.delete(url);
  answers.set(url, answer);
  if (answers.size > REMEMBERED) answers.delete(answers.keys().next().value);
  return answer;
}

/** Tell the server something, and return what it answers. */
export async function send(path, values) {
  const response = await fetched(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(values) });
  const answer = await response.json();
  if (!response.ok) throw new Refused(answer.error);
  return answer;
}

/** Forget all answers: something was told to the server that changes them. */
export function forgetAnswers() {
  answers.clear();
}

/** Save a file for which a token is needed: a plain link could not send it. */
export async function download(url, name) {
  const response = await fetched(url);
  if (!response.ok) throw new Refused((await response.json()).error);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await response.blob());
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/**
 * Let only one run of some work be under way: while it runs, of all further calls only the last counts.
 * A slider that is dragged asks as often as the server answers, and ends with the last position.
 */
export function latest(work) {
  let waiting = null;
  let isRunning = false;
  return async (...given) => {
    waiting = given;
    if (isRunning) return;
    isRunning = true;
    try {
      while (waiting) {
        const now = waiting;
        waiting = null;
        await work(...now);
      }
    } finally {
      isRunning = false;
    }
  };
}

// Where the nodes of a network stand: linked ones pull, all push each other away (Fruchterman and Reingold).

const STEPS = 220;
const GOLDEN_ANGLE = 2.399963;
const GRAVITY = 0.9;
const EVENNESS = 0.5;

/**
 * Return a place { x, y } for each of n nodes, from 0 to 1 both.
 * The start is a spiral, so that the same links always give the same picture.
 */
export function networkLayout(n, links) {
  const places = Array.from({ length: n }, (_, at) => {
    const radius = Math.sqrt((at + 0.5) / n);
    return { x: radius * Math.cos(at * GOLDEN_ANGLE), y: radius * Math.sin(at * GOLDEN_ANGLE) };
  });
  const ideal = 1.8 / Math.sqrt(Math.max(n, 1));
  for (let step = 0; step < STEPS; step += 1) {
    const heat = 0.12 * (1 - step / STEPS) + 0.002;
    move(places, forces(places, links, ideal), heat);
  }
  return normalised(places);
}

function forces(places, links, ideal) {
  const force = places.map(({ x, y }) => ({ x: -GRAVITY * x, y: -GRAVITY * y }));
  for (let a = 0; a < places.length; a += 1) {
    for (let b = a + 1; b < places.length; b += 1) {
      const dx = places[a].x - places[b].x;
      const dy = places[a].y - places[b].y;
      const push = (ideal * ideal) / Math.max(dx * dx + dy * dy, 1e-4);
      force[a].x += dx * push;
      force[a].y += dy * push;
      force[b].x -= dx * push;
      force[b].y -= dy * push;
    }
  }
  for (const [a, b] of links) {
    const dx = places[a].x - places[b].x;
    const dy = places[a].y - places[b].y;
    const pull = Math.hypot(dx, dy) / ideal;
    force[a].x -= dx * pull;
    force[a].y -= dy * pull;
    force[b].x += dx * pull;
    force[b].y += dy * pull;
  }
  return force;
}

function move(places, force, heat) {
  places.forEach((place, at) => {
    const length = Math.max(Math.hypot(force[at].x, force[at].y), 1e-9);
    const by = Math.min(length, heat) / length;
    place.x += force[at].x * by;
    place.y += force[at].y * by;
  });
}

/** Fit into the unit square; places are half their own, half their rank, so that no crowd stays in a corner. */
function normalised(places) {
  const scale = (axis) => {
    const values = places.map((place) => place[axis]).sort((a, b) => a - b);
    const [least, most] = [values[0], values.at(-1)];
    return (place) => {
      if (values.length === 1) return 0.5;
      const rank = values.indexOf(place[axis]) / (values.length - 1);
      return (1 - EVENNESS) * ((place[axis] - least) / (most - least || 1)) + EVENNESS * rank;
    };
  };
  const x = scale("x");
  const y = scale("y");
  return places.map((place) => ({ x: x(place), y: y(place) }));
}

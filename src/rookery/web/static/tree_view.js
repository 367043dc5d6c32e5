// The tree of moves as text with buttons: the main line, variations indented, comments between.

/**
 * Fill `place`. `mark(index)` may return { text, kind, title } to stand behind a move; `go(index)`
 * is called by a click.
 */
export function showTree(place, tree, current, go, mark = () => null) {
  const root = document.createElement("div");
  root.className = "line main";
  if (readable(tree.nodes[0])) root.append(comment(readable(tree.nodes[0])));
  // Variations wait in a list instead of being drawn recursively: they may be nested deeply.
  const waiting = [[tree.children[0][0], root, true]];
  while (waiting.length) {
    const [first, element, fresh] = waiting.pop();
    drawLine(tree, first, element, fresh, current, go, mark, waiting);
  }
  place.replaceChildren(root);
  const chosen = place.querySelector("[aria-current=true]");
  if (chosen) place.scrollTop = chosen.offsetTop - place.offsetTop - 80;
}

function drawLine(tree, first, element, fresh, current, go, mark, waiting) {
  let numbered = fresh;
  for (let at = first; at !== undefined; at = tree.children[at][0]) {
    const node = tree.nodes[at];
    const before = tree.nodes[node.parent].fen.split(" ");
    if (before[1] === "w") element.append(number(`${before[5]}.`));
    else if (numbered) element.append(number(`${before[5]}…`));
    element.append(moveButton(node, at, current, go, mark(at)));
    numbered = false;
    if (readable(node)) {
      element.append(comment(readable(node)));
      numbered = true;
    }
    const siblings = tree.children[node.parent];
    if (siblings[0] !== at) continue;
    for (const other of siblings.slice(1)) {
      const variation = document.createElement("div");
      variation.className = "line";
      element.append(variation);
      waiting.push([other, variation, true]);
      numbered = true;
    }
  }
}

function moveButton(node, index, current, go, found) {
  const button = document.createElement("button");
  button.textContent = node.san + node.nags;
  if (found) {
    const sign = document.createElement("span");
    sign.className = "mark";
    sign.textContent = found.text;
    button.append(sign);
    button.classList.add(found.kind);
    button.title = found.title;
  }
  button.dataset.node = index;
  button.setAttribute("aria-current", String(index === current));
  button.onclick = () => go(index);
  return button;
}

function number(text) {
  const element = document.createElement("span");
  element.className = "number";
  element.textContent = text;
  return element;
}

/** A comment without what programs write for programs, such as clocks: [%clk 0:05:00]. */
function readable(node) {
  return node.comment.replace(/\[%[^\]]*\]/g, "").trim();
}

function comment(text) {
  const element = document.createElement("span");
  element.className = "comment";
  element.textContent = text;
  return element;
}

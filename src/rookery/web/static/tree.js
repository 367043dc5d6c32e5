// A tree of moves: the game, its variations and comments. Data only; the server knows the rules.

export class MoveTree {
  constructor(fen) {
    this.nodes = [{ parent: -1, uci: "", san: "", fen, comment: "", nags: "" }];
    this.children = [[]];
  }

  /** A tree from the server's list of nodes, in which parents come before their children. */
  static of(nodes) {
    const tree = new MoveTree(nodes[0].fen);
    tree.nodes[0] = nodes[0];
    for (const node of nodes.slice(1)) tree.append(node);
    return tree;
  }

  append(node) {
    this.nodes.push(node);
    this.children.push([]);
    const index = this.nodes.length - 1;
    this.children[node.parent].push(index);
    return index;
  }

  /** The node of a move from `parent`, made if it is new. */
  add(parent, uci, san, fen) {
    const known = this.children[parent].find((index) => this.nodes[index].uci === uci);
    return known ?? this.append({ parent, uci, san, fen, comment: "", nags: "" });
  }

  /** The moves that lead to a node. */
  moves(index) {
    const found = [];
    for (let at = index; at > 0; at = this.nodes[at].parent) found.unshift(this.nodes[at].uci);
    return found;
  }

  /** The line through a node: to it, and on by main moves. */
  line(index) {
    const found = [];
    for (let at = index; at > 0; at = this.nodes[at].parent) found.unshift(at);
    for (let at = index; this.children[at].length; ) {
      at = this.children[at][0];
      found.push(at);
    }
    return found;
  }

  get mainLine() {
    return this.line(0);
  }

  /** Delete a node and all that follows; returns its parent. */
  remove(index) {
    const parent = this.nodes[index].parent;
    this.children[parent] = this.children[parent].filter((child) => child !== index);
    return parent;
  }

  /** Whether a node belongs to the main line. */
  isMain(index) {
    return index === 0 || this.mainLine.includes(index);
  }

  /** Make the variation through a node the main line where it leaves. */
  promote(index) {
    for (let at = index; at > 0; at = this.nodes[at].parent) {
      const siblings = this.children[this.nodes[at].parent];
      if (siblings[0] === at) continue;
      siblings.splice(siblings.indexOf(at), 1);
      siblings.unshift(at);
      return;
    }
  }

  /** The tree as PGN movetext. */
  movetext() {
    const words = this.nodes[0].comment ? [commented(this.nodes[0])] : [];
    const write = (first, numbered) => {
      let at = first;
      let fresh = numbered;
      while (at !== undefined) {
        const node = this.nodes[at];
        const before = this.nodes[node.parent].fen.split(" ");
        if (before[1] === "w") words.push(`${before[5]}.`);
        else if (fresh) words.push(`${before[5]}...`);
        words.push(node.san + node.nags);
        fresh = false;
        if (node.comment) {
          words.push(commented(node));
          fresh = true;
        }
        const siblings = this.children[node.parent];
        if (siblings[0] === at) {
          for (const other of siblings.slice(1)) {
            words.push("(");
            write(other, true);
            words.push(")");
            fresh = true;
          }
        }
        at = this.children[at][0];
      }
    };
    write(this.children[0][0], true);
    return words.join(" ").replaceAll("( ", "(").replaceAll(" )", ")");
  }
}

function commented(node) {
  return `{${node.comment.replaceAll("}", ")")}}`;
}

// Rules are checked as they are.
exports.compile = (rules) => (order) =>
  rules.every(({ name, least, most }) => order[name] >= least && order[name] <= most);

"""Samples of several rounds, by the name of the figure: the median counts, the spread is told."""

import statistics


class Samples:
    def __init__(self):
        self._of = {}

    def add(self, name, value):
        self._of.setdefault(name, []).append(value)

    def figures_of_one_run(self, figures):
        """Those that do not vary."""
        for name, value in figures.items():
            self.add(name, value)

    def ratio(self, name, above, below):
        """Round by round: what is measured next to each other is divided, so that a slow minute hits both."""
        for a, b in zip(self._of[above], self._of[below], strict=True):
            self.add(name, a / b)

    def figures(self):
        return {name: statistics.median(values) for name, values in self._of.items()}

    def spreads(self):
        """(max - min) / median of each."""
        return {name: (max(values) - min(values)) / statistics.median(values) for name, values in self._of.items()}

"""Settings found by trying: populations of runs, and search parameters by games (`spsa.py`).

Population-based training: many runs of one recipe that learn from each other's settings.

Jaderberg et al. 2017, "Population Based Training of Neural Networks". After each round the worst
members are replaced by copies of the best (exploit), whose settings are then perturbed (explore).
A member is an ordinary run folder, and a round of a member is a piece of work that any node of a
cluster can do. What a member has become is a chain of settings of one run, so the best one can be
trained again as a plain recipe, to the same weights.
"""

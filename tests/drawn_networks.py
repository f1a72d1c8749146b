"""Small networks: one table by hand, hypothesis strategies, and brute force over all states."""

import itertools

import numpy as np
from hypothesis import strategies as st

from colonnade.counts import FamilyCounts
from colonnade.cpt import Cpt
from colonnade.dag import Dag
from colonnade.network import BayesianNetwork
from colonnade.pooling import Exact, Quadrature, Variational
from colonnade.priors import BDeu, Hierarchical, MaximumLikelihood, SymmetricDirichlet
from colonnade.variables import Family, Variable

# Small enough to be counted by eye.
SMALL = {
    "age": ["young", "old", "old", "young", "old", "young"],
    "smoker": ["no", "yes", "no", "no", "yes", "yes"],
    "cancer": [False, True, False, False, False, False],
}
SMALL_DAG = Dag([("age", "cancer"), ("smoker", "cancer")])

NASTY = [
    *("a b", "<=50K", ">50K", "it's", '"quoted"', "a,b", "a|b", "a;b", "{x}", "(y)", "[1, 2)"),
    *("naïve", "日本", "0", "1", "-1", "007", "1.5", "1e3", "True", "no", "nan", "null", "None"),
    *("variable", "probability", "net", "node", "potential", "table", "default", "states"),
    *("cn__", "cn__a", "cn___3c_", "__", "_", "%41", "&amp;", "<!--", "]]>", "\\", "a\\nb", "//"),
    *(" lead", "trail ", "two  spaces", "tab\tnew\nline", "\x00", "\ud800", "\u2028"),
    *("\u00e9", "e\u0301"),
    *("x" * 300, "🙂", "#", "/* c */", "$", "'", '"', "`", "=", "a=b", "\ufeff", "\x1f", "\x85"),
]
names = st.one_of(st.sampled_from(NASTY), st.text(min_size=1, max_size=6))
plain_names = st.from_regex(r"[a-z][a-z0-9_]{0,3}", fullmatch=True)


@st.composite
def states(draw, most=4):
    """States of one variable: strings (the empty one too), integers or truth values."""
    kind = draw(st.sampled_from(["str", "int", "bool", "mixed"]))
    if kind == "bool":
        return draw(st.sampled_from([(False, True), (True, False), (True,)]))
    each = {
        "str": st.one_of(st.just(""), names),
        "int": st.integers(-(2**70), 2**70) | st.integers(-3, 3),
        "mixed": st.one_of(names, st.integers(-2, 12)),
    }[kind]
    return tuple(draw(st.lists(each, min_size=1, max_size=most, unique=True)))


some_states = states()


@st.composite
def dags(draw, names=names, least=1, most=5):
    """A graph over some names, parents in any order."""
    nodes = draw(st.lists(names, min_size=least, max_size=most, unique=True))
    pairs = list(itertools.combinations(draw(st.permutations(nodes)), 2))
    arcs = draw(st.permutations([pair for pair in pairs if draw(st.booleans())]))
    return Dag(arcs, nodes)


def priors(whole=True):
    """A prior; the exact engine only for whole counts."""
    number = st.floats(0.01, 50)
    engines = [Quadrature(), Variational(1e-9), *[Exact()] * whole]
    return st.one_of(
        st.builds(BDeu, number),
        st.builds(SymmetricDirichlet, st.none() | number),
        st.builds(MaximumLikelihood, st.sampled_from(["uniform", "nan"])),
        st.builds(Hierarchical, st.none() | number, number),
        st.builds(Hierarchical, st.none() | number, engine=st.sampled_from(engines)),
    )


def random_rows(rng, rows, r):
    """Rows of probabilities, some with zeros."""
    table = rng.dirichlet(np.full(r, 0.7), size=rows)
    zero = rng.random(table.shape) < 0.15
    zero[np.arange(rows), table.argmax(axis=1)] = False
    table[zero] = 0.0
    return table / table.sum(axis=1, keepdims=True)


@st.composite
def cpts(draw, family, known=None):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shape = (family.configurations, family.cardinality)
    if draw(st.booleans()) if known is None else known:
        return Cpt.known(family, random_rows(rng, *shape))
    counts = rng.integers(0, 6, size=shape) * (rng.random((shape[0], 1)) < 0.7)
    whole = draw(st.booleans())
    counts = counts if whole else counts * rng.random(shape)
    counts = FamilyCounts.from_array(counts, family.parent_sizes)
    return Cpt.of(family, counts, draw(priors(whole)))


@st.composite
def networks(draw, names=names, states=some_states, known=None, least=1, most=5):
    """A network whose tables are known, estimated, or some of each."""
    dag = draw(dags(names, least, most))
    variables = {name: Variable(name, draw(states)) for name in dag.variables}
    tables = {}
    for name in dag.variables:
        family = Family(variables[name], [variables[parent] for parent in dag.parents(name)])
        tables[name] = draw(cpts(family, known))
    return BayesianNetwork(dag, tables)


@st.composite
def situations(draw):
    """A network, a state of a target that can occur, and up to two observed states beside it."""
    network = draw(networks(known=True, least=2, most=4))
    target, *others = draw(st.permutations(list(network)))
    rows = network.sample(1, 0)
    observed = {name: rows[name][0] for name in others[: draw(st.integers(0, 2))]}
    return network, target, rows[target][0], observed


def joint(network, tables=None):
    """Probability of every combination of states, one axis a variable, in the order of the graph.

    `tables` replaces the dense tables; written out case by case, as no code under test does it.
    """
    dense = tables or {name: network[name].probabilities for name in network}
    sizes = [variable.cardinality for variable in network.variables]
    place = {variable.name: k for k, variable in enumerate(network.variables)}
    total = np.zeros(sizes)
    for codes in itertools.product(*map(range, sizes)):
        value = 1.0
        for name in network:
            row = 0
            for parent in network[name].family.parents:
                row = row * parent.cardinality + codes[place[parent.name]]
            value *= dense[name][row, codes[place[name]]]
        total[codes] = value
    return total


def conditional(network, table, targets, observed):
    """Joint of the targets given observed codes, from the joint of all; None if impossible."""
    place = {variable.name: k for k, variable in enumerate(network.variables)}
    index = [slice(None)] * table.ndim
    for name, code in observed.items():
        index[place[name]] = slice(code, code + 1)
    sliced = table[tuple(index)]
    others = tuple(k for k in range(table.ndim) if k not in {place[name] for name in targets})
    found = sliced.sum(axis=others)
    if found.sum() == 0.0:
        return None
    axes = sorted(targets, key=place.get)
    return found.transpose([axes.index(name) for name in targets]) / found.sum()

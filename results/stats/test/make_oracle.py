#!/usr/bin/env python3
"""Makes oracle.json, the values that stats_test holds the statistics against, with scipy 1.10 or newer.

    make_oracle.py > oracle.json      writes it
    make_oracle.py --check FILE       exits 1 when the file differs beyond rounding
"""

import itertools
import json
import math
import sys

import numpy as np
from scipy import stats

SIZES = ((3, 3), (4, 4), (5, 7), (6, 6), (8, 8), (8, 5), (12, 10), (20, 20), (1, 9), (25, 30))


def numbers(values):
    return [float(value) for value in values]


def accepted(candidates, p_at, alpha):
    """The ends of the shifts that a test does not reject, among the candidates at which its p changes; None
    where it rejects none of the shifts beyond them."""
    cuts = np.unique(candidates)
    if p_at(cuts[0] - 1) > alpha or p_at(cuts[-1] + 1) > alpha:
        return None
    inside = [i for i in range(len(cuts) - 1) if p_at((cuts[i] + cuts[i + 1]) / 2) > alpha]
    return numbers((cuts[inside[0]], cuts[inside[-1] + 1]))


def mann_whitney(random):
    for m, n in SIZES:
        a = random.normal(5, 1, m)
        b = random.normal(5.5, 1.2, n)
        method = "exact" if m * n <= 400 else "asymptotic"
        test = stats.mannwhitneyu(b, a, alternative="two-sided", method=method)
        differences = np.subtract.outer(b, a).ravel()
        case = {"a": numbers(a), "b": numbers(b), "p": float(test.pvalue),
                "estimate": float(np.median(differences)),
                "delta": float(2 * test.statistic / (m * n) - 1)}
        if m * n <= 400:
            case["interval"] = accepted(
                differences, lambda shift: stats.mannwhitneyu(b - shift, a, method="exact").pvalue, 0.05)
        yield case


def mann_whitney_ties(random):
    for m, n in ((4, 4), (5, 5), (6, 4), (3, 7)):
        a = random.integers(0, 4, m)
        b = random.integers(1, 6, n)
        ranks = stats.rankdata(np.concatenate((a, b)))
        sums = [sum(chosen) for chosen in itertools.combinations(ranks, n)]
        seen = ranks[m:].sum()
        tails = (np.mean([value <= seen + 1e-9 for value in sums]), np.mean([value >= seen - 1e-9 for value in sums]))
        yield {"a": numbers(a), "b": numbers(b), "p": float(min(1, 2 * min(tails)))}
    a = random.integers(0, 9, 25)
    b = random.integers(1, 9, 22)
    yield {"a": numbers(a), "b": numbers(b),
           "p": float(stats.mannwhitneyu(b, a, alternative="two-sided", method="asymptotic").pvalue)}


def signed_rank(random):
    for n in (4, 5, 6, 8, 11, 20):
        d = random.normal(0.4, 1, n)
        walsh = [(d[i] + d[j]) / 2 for i in range(n) for j in range(i, n)]
        yield {"d": numbers(d), "p": float(stats.wilcoxon(d, mode="exact").pvalue), "estimate": float(np.median(walsh)),
               "interval": accepted(walsh, lambda shift: stats.wilcoxon(d - shift, mode="exact").pvalue, 0.05)}


def signed_rank_ties(random):
    for n in (5, 8, 10):
        d = random.integers(-2, 5, n)
        kept = d[d != 0]
        ranks = stats.rankdata(abs(kept))
        sums = [float(np.dot(signs, ranks)) for signs in itertools.product((0, 1), repeat=len(kept))]
        seen = ranks[kept > 0].sum()
        tails = (np.mean([value <= seen + 1e-9 for value in sums]), np.mean([value >= seen - 1e-9 for value in sums]))
        yield {"d": numbers(d), "p": float(min(1, 2 * min(tails)))}
    d = random.integers(-9, 15, 90)
    yield {"d": numbers(d), "p": float(stats.wilcoxon(d, mode="approx", correction=True).pvalue)}


def median_intervals(random):
    for n in (5, 6, 8, 9, 20, 41):
        x = random.normal(100, 3, n)
        low, high = int(stats.binom.ppf(0.025, n, 0.5)) - 1, int(stats.binom.ppf(0.975, n, 0.5))
        while low >= 0 and stats.binom.cdf(low, n, 0.5) > 0.025:
            low, high = low - 1, high + 1
        ends = None if low < 0 else numbers(np.sort(x)[[low, high]])
        yield {"x": numbers(x), "interval": ends}


def adjusted(random):
    for n in (1, 3, 10):
        p = np.round(random.uniform(0, 0.2, n), 3)
        bh = [min(1, min(q * n / np.sum(p <= q) for q in p if q >= own)) for own in p]
        by_holm = []
        for own in p:
            smaller = [q for q in p if q <= own]
            by_holm.append(min(1, max(q * (n - np.sum(p < q)) for q in smaller)))
        yield {"p": numbers(p), "bh": numbers(bh), "holm": numbers(by_holm)}


def bootstraps(random):
    for n in (12, 25):
        a = random.gamma(8, 0.2, n)
        b = random.gamma(9, 0.2, n + 5)
        found = stats.bootstrap((a, b), lambda x, y, axis: np.median(y, axis=axis) - np.median(x, axis=axis),
                                n_resamples=60000, batch=10000, method="BCa", random_state=np.random.default_rng(7))
        yield {"a": numbers(a), "b": numbers(b),
               "interval": numbers((found.confidence_interval.low, found.confidence_interval.high)),
               "error": float(found.standard_error)}


def mean_distance(x, y):
    return np.abs(np.subtract.outer(x, y))


def divergence(x, y):
    m, n = len(x), len(y)
    within = [np.sum(mean_distance(z, z)) / (len(z) * (len(z) - 1)) for z in (x, y)]
    return m * n / (m + n) * (2 * np.mean(mean_distance(x, y)) - sum(within))


def splits(random):
    for n, step in ((12, 2.0), (23, 0.0), (40, 1.0)):
        x = random.normal(0, 1, n)
        x[n // 3:2 * n // 3] += step
        z = (x - np.median(x)) / np.std(x)
        best = max(((divergence(z[:at], z[at:end]), at, end)
                    for at in range(5, n - 4) for end in range(at + 5, n + 1)))
        yield {"x": numbers(x), "q": float(best[0]), "at": best[1], "end": best[2]}


def oracle():
    random = np.random.default_rng(20240607)
    x = random.normal(0, 1, 15)
    return {
        "mann_whitney": list(mann_whitney(random)),
        "mann_whitney_ties": list(mann_whitney_ties(random)),
        "signed_rank": list(signed_rank(random)),
        "signed_rank_ties": list(signed_rank_ties(random)),
        "median_interval": list(median_intervals(random)),
        "adjusted": list(adjusted(random)),
        "bootstrap": list(bootstraps(random)),
        "split": list(splits(random)),
        "slope": {"x": numbers(x), "slope": float(stats.theilslopes(x)[0])},
        "student": [[p, df, float(stats.t.ppf(p, df))] for p in (0.9, 0.975, 0.9995) for df in (1, 7, 39)],
        "normal": [[p, float(stats.norm.ppf(p))] for p in (0.005, 0.2, 0.975)],
    }


def same(a, b):
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float):
        return isinstance(b, float) and math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12)
    return a == b


def main(arguments):
    if arguments[:1] == ["--check"]:
        with open(arguments[1]) as file:
            equal = same(oracle(), json.load(file))
        print("the stored values are scipy's" if equal else f"{arguments[1]} differs from what scipy gives")
        return 0 if equal else 1
    print("{" + ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in oracle().items()) + "}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

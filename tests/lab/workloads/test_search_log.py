import numpy as np
import pytest

from tamis.lab.workloads import Workload, generate
from tamis.lab.workloads.search_log import SearchLog
from tamis.language import parse


def queries_of(workload: Workload) -> list[str]:
    texts = workload.conditions.texts().to_pylist()
    assert all(text.startswith("query like '%") and text.endswith("%'") for text in texts)
    return [text.removeprefix("query like '%").removesuffix("%'") for text in texts]


def test_queries_are_different_and_have_the_right_numbers_of_words() -> None:
    spec = SearchLog(subscriptions=4_000, events=1)
    queries = queries_of(generate(spec))
    assert len(set(queries)) == len(queries) == 4_000
    words = [len(query.split()) for query in queries]
    assert min(words) == 1
    assert max(words) == spec.most_words
    # Those of one word repeat each other and are left out, so that the mean rises.
    assert spec.mean_words < np.mean(words) < 3
    lengths = {len(word) for query in queries for word in query.split()}
    assert lengths == set(range(spec.shortest_word, spec.longest_word + 1))


def test_events_hold_as_many_queries_as_they_should() -> None:
    workload = generate(SearchLog(subscriptions=1_000, events=400, mean_share=0.005))
    queries = queries_of(workload)
    pages = [event["query"] for event in workload.events.rows()]
    words = np.mean([len(query.split()) for query in queries])
    # Five queries on average; those with rare words are rarer, so the words are fewer.
    assert 0.5 * 5 * words < np.mean([len(page.split()) for page in pages]) < 1.2 * 5 * words
    met = np.array([[query in page for page in pages] for query in queries])
    assert met.mean() >= 0.005
    assert met.mean(axis=1).max() > 5 * met.mean()


def test_a_filter_is_met_by_texts_that_hold_it() -> None:
    workload = generate(SearchLog(subscriptions=200, events=40, mean_share=0.02))
    expressions = [parse(text) for text in workload.conditions.texts().to_pylist()]
    for event in workload.events.rows():
        found = [expression.matches(event) for expression in expressions]
        assert found == [query in event["query"] for query in queries_of(workload)]


def test_seeds_decide() -> None:
    spec = SearchLog(subscriptions=50, events=5)
    first, again, other = generate(spec, 1), generate(spec, 1), generate(spec, 2)
    assert first.conditions.texts() == again.conditions.texts() != other.conditions.texts()
    assert list(first.events.rows()) == list(again.events.rows())


def test_too_few_words_are_refused() -> None:
    with pytest.raises(ValueError, match="no 100 different queries"):
        generate(SearchLog(subscriptions=100, vocabulary=3, most_words=2, mean_words=1.5))

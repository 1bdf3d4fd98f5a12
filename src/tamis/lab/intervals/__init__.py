"""Which of many intervals contain a point? Five ways to ask, for Table 10.2.1 of Ji's thesis (specs/002 §9.3)."""

from tamis.lab.intervals.element_tree import ElementTree
from tamis.lab.intervals.interval_tree import IntervalTree
from tamis.lab.intervals.ps_tree import PSTree
from tamis.lab.intervals.scan import Scan
from tamis.lab.intervals.segment_tree import SegmentTree
from tamis.lab.intervals.structure import Structure, answers, rounds

__all__ = ["ElementTree", "IntervalTree", "PSTree", "Scan", "SegmentTree", "Structure", "answers", "rounds"]

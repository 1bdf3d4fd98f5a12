"""What is matched in an experiment: seeded workloads, each described by one frozen spec."""

from tamis.lab.workloads.abe_gen import AbeGen
from tamis.lab.workloads.ads import Ads, ArbitraryAds
from tamis.lab.workloads.be_gen import BE_GEN_A_TREE, BE_GEN_DENSE, BE_GEN_SPARSE, BeGen
from tamis.lab.workloads.catalogue import workloads
from tamis.lab.workloads.conjunctions import Conjunctions
from tamis.lab.workloads.demos import AdTargeting, Iot, Market
from tamis.lab.workloads.events import Events, SparseEvents, TableEvents
from tamis.lab.workloads.mics import Mics
from tamis.lab.workloads.operations import CoverOperations, OperationStream
from tamis.lab.workloads.query_log import QueryLog
from tamis.lab.workloads.shen import Shen
from tamis.lab.workloads.spec import Spec, generate, sweep
from tamis.lab.workloads.stocks import Stocks
from tamis.lab.workloads.values import ALL_RAD, DIFF_RAD, SAME_RAD, Autoregression, ValueWorkload
from tamis.lab.workloads.workload import ArbitraryConditions, Conditions, Workload, WorkloadSpec
from tamis.lab.workloads.xsiena import XSiena
from tamis.lab.workloads.yardstick import Yardstick

__all__ = [
    "ALL_RAD",
    "BE_GEN_A_TREE",
    "BE_GEN_DENSE",
    "BE_GEN_SPARSE",
    "DIFF_RAD",
    "SAME_RAD",
    "AbeGen",
    "AdTargeting",
    "Ads",
    "ArbitraryAds",
    "ArbitraryConditions",
    "Autoregression",
    "BeGen",
    "Conditions",
    "Conjunctions",
    "CoverOperations",
    "Events",
    "Iot",
    "Market",
    "Mics",
    "OperationStream",
    "QueryLog",
    "Shen",
    "SparseEvents",
    "Spec",
    "Stocks",
    "TableEvents",
    "ValueWorkload",
    "Workload",
    "WorkloadSpec",
    "XSiena",
    "Yardstick",
    "generate",
    "sweep",
    "workloads",
]

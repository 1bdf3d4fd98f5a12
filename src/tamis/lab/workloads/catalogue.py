"""Which workloads there are, by name, each as its source describes it."""

from tamis.lab.workloads.abe_gen import AbeGen
from tamis.lab.workloads.ads import Ads, ArbitraryAds
from tamis.lab.workloads.be_gen import BE_GEN_A_TREE, BE_GEN_DENSE, BE_GEN_SPARSE
from tamis.lab.workloads.demos import AdTargeting, Iot, Market
from tamis.lab.workloads.mics import (
    MICS_FITTED_UNIFORM,
    MICS_FITTED_ZIPF,
    MICS_TABLE_2_UNIFORM,
    MICS_TABLE_2_ZIPF,
    MICS_UNIFORM,
    MICS_ZIPF,
)
from tamis.lab.workloads.query_log import QueryLog
from tamis.lab.workloads.shen import SHEN_NORM_1, SHEN_NORM_2, SHEN_UNIFORM
from tamis.lab.workloads.workload import WorkloadSpec
from tamis.lab.workloads.xsiena import (
    XSIENA_E3_NORMAL,
    XSIENA_E3_PARETO,
    XSIENA_E3_UNIFORM,
    XSIENA_E7,
    XSIENA_E9,
)
from tamis.lab.workloads.yardstick import W_A, W_B, W_E, W_R


def workloads() -> dict[str, WorkloadSpec]:
    """Return the specs by name, at the sizes of their sources.

    `msgspec.structs.replace` of `subscriptions` and `events` makes it smaller.
    """
    return {
        "be-gen-dense": BE_GEN_DENSE,
        "be-gen-sparse": BE_GEN_SPARSE,
        "be-gen-a-tree": BE_GEN_A_TREE,
        "abe-gen": AbeGen(),
        "query-log": QueryLog(),
        "ads": Ads(),
        "ads-arbitrary": ArbitraryAds(),
        "shen-uniform": SHEN_UNIFORM,
        "shen-norm-1": SHEN_NORM_1,
        "shen-norm-2": SHEN_NORM_2,
        "mics-zipf": MICS_ZIPF,
        "mics-uniform": MICS_UNIFORM,
        "mics-table-2-zipf": MICS_TABLE_2_ZIPF,
        "mics-table-2-uniform": MICS_TABLE_2_UNIFORM,
        "mics-fitted-zipf": MICS_FITTED_ZIPF,
        "mics-fitted-uniform": MICS_FITTED_UNIFORM,
        "xsiena-e3-uniform": XSIENA_E3_UNIFORM,
        "xsiena-e3-normal": XSIENA_E3_NORMAL,
        "xsiena-e3-pareto": XSIENA_E3_PARETO,
        "xsiena-e7": XSIENA_E7,
        "xsiena-e9": XSIENA_E9,
        "w-a": W_A,
        "w-e": W_E,
        "w-b": W_B,
        "w-r": W_R,
        "market": Market(),
        "iot": Iot(),
        "ad-targeting": AdTargeting(),
    }

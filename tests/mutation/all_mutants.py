"""Every seeded bug."""

from __future__ import annotations

from mutation.aggregate_mutants import AGGREGATE_MUTANTS
from mutation.alert_mutants import ALERT_MUTANTS
from mutation.answer_mutants import ANSWER_MUTANTS
from mutation.cache_mutants import CACHE_MUTANTS
from mutation.dashboard_mutants import DASHBOARD_MUTANTS
from mutation.decision_mutants import DECISION_MUTANTS
from mutation.gdp_mutants import GDP_MUTANTS
from mutation.generic_plan_mutants import GENERIC_PLAN_MUTANTS
from mutation.grammar_mutants import GRAMMAR_MUTANTS
from mutation.key_mutants import KEY_MUTANTS
from mutation.ladder_mutants import LADDER_MUTANTS
from mutation.mutants import MUTANTS
from mutation.norm_mutants import NORM_MUTANTS
from mutation.postgres_mutants import POSTGRES_MUTANTS
from mutation.relation_mutants import RELATION_MUTANTS
from mutation.sample_mutants import SAMPLE_MUTANTS
from mutation.selection_mutants import SELECTION_MUTANTS
from mutation.service_mutants import SERVICE_MUTANTS
from mutation.size_mutants import SIZE_MUTANTS
from mutation.spark_mutants import SPARK_MUTANTS
from mutation.split_mutants import SPLIT_MUTANTS
from mutation.sum_cap_mutants import SUM_CAP_MUTANTS
from mutation.synopsis_mutants import SYNOPSIS_MUTANTS
from mutation.totality_mutants import TOTALITY_MUTANTS
from mutation.update_mutants import UPDATE_MUTANTS
from mutation.version_mutants import VERSION_MUTANTS

ALL = (
    *MUTANTS,
    *AGGREGATE_MUTANTS,
    *ALERT_MUTANTS,
    *ANSWER_MUTANTS,
    *CACHE_MUTANTS,
    *GENERIC_PLAN_MUTANTS,
    *DASHBOARD_MUTANTS,
    *DECISION_MUTANTS,
    *GDP_MUTANTS,
    *GRAMMAR_MUTANTS,
    *KEY_MUTANTS,
    *LADDER_MUTANTS,
    *NORM_MUTANTS,
    *POSTGRES_MUTANTS,
    *RELATION_MUTANTS,
    *SAMPLE_MUTANTS,
    *SELECTION_MUTANTS,
    *SERVICE_MUTANTS,
    *SIZE_MUTANTS,
    *SPARK_MUTANTS,
    *SPLIT_MUTANTS,
    *SUM_CAP_MUTANTS,
    *SYNOPSIS_MUTANTS,
    *TOTALITY_MUTANTS,
    *UPDATE_MUTANTS,
    *VERSION_MUTANTS,
)

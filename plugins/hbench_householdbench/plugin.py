"""What the householdbench suite adds to hbench."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hbench.plugin import hookimpl

if TYPE_CHECKING:
    from hbench.plugin import Scope

hbench_api = 1

_PACKAGE = "hbench_householdbench"

_ADAPTERS = {
    "census": "census:origin",
    "cex_diary": "cex:diary_day",
    "cex_interview": "cex:interview",
    "cex_rebate": "cex:rebate",
    "cps": "cps:worker",
    "cps_benefits": "cps:benefits",
    "cps_displaced": "cps:displaced",
    "cps_older": "cps:older_worker",
    "michigan": "michigan:consumer",
    "psid_added_worker": "psid:added_worker",
    "psid_earner": "psid:earner",
    "psid_family": "psid:family",
    "psid_job_loss": "psid:job_loss",
    "sce": "sce:core",
    "sce_financing": "financing:experiment",
    "sce_home": "sce:home",
    "sce_job_search": "sce:job_search",
    "sce_lock_in": "sce:lock_in",
    "sce_policy": "sce:policy",
    "sce_revision": "sce:revision",
    "sce_search": "sce:search",
    "sce_shock": "sce:shock",
    "sce_uncertainty": "sce:uncertainty",
}
"""What prepares a row's values for the prompt, in the package's `phrases`."""

_STEPS = {
    "attach_macro": "steps.macro:attach_macro",
    "census_origin": "steps.census:census_origin",
    "census_state_economy": "steps.census:census_state_economy",
    "cps_displacement": "steps.cps_displaced:cps_displacement",
    "cps_trim_displaced": "steps.cps_displaced:cps_trim_displaced",
    "cex_categories_add_up": "steps.cex:cex_categories_add_up",
    "cex_observed_between": "steps.cex:cex_observed_between",
    "cex_rebate_2001": "steps.rebates:cex_rebate_2001",
    "cex_rebate_status": "steps.rebates:cex_rebate_status",
    "cex_stimulus_2008": "steps.rebates:cex_stimulus_2008",
    "cps_describe": "steps.cps:cps_describe",
    "cps_hashed_id": "steps.cps_benefits:cps_hashed_id",
    "cps_household_counts": "steps.cps_benefits:cps_household_counts",
    "cps_last_job": "steps.cps_benefits:cps_last_job",
    "cps_link_months": "steps.cps_links:cps_link_months",
    "cps_paired_months": "steps.cps_links:cps_paired_months",
    "cps_partner": "steps.cps:cps_partner",
    "cps_retired": "steps.cps_links:cps_retired",
    "cps_same_person": "steps.cps_links:cps_same_person",
    "cps_trim_earnings": "steps.cps:cps_trim_earnings",
    "cps_ui_consistent": "steps.cps_benefits:cps_ui_consistent",
    "cps_ui_policy": "steps.cps_benefits:cps_ui_policy",
    "cps_unique_person": "steps.cps_links:cps_unique_person",
    "diary_complete_weeks": "steps.diary:diary_complete_weeks",
    "diary_daily_history": "steps.diary:diary_daily_history",
    "diary_payment_calendar": "steps.diary:diary_payment_calendar",
    "diary_plausible": "steps.diary:diary_plausible",
    "diary_social_security": "steps.diary:diary_social_security",
    "diary_trim": "steps.diary:diary_trim",
    "michigan_linked": "steps.michigan:michigan_linked",
    "michigan_previous_interview": "steps.michigan:michigan_previous_interview",
    "michigan_trim_prior": "steps.michigan:michigan_trim_prior",
    "financing_down_payments": "steps.financing:financing_down_payments",
    "financing_owners": "steps.financing:financing_owners",
    "blank_outside": "steps.sce:blank_outside",
    "sce_allocation_shares": "steps.sce_modules:sce_allocation_shares",
    "sce_attach_core": "steps.sce:sce_attach_core",
    "sce_inflation_since": "steps.sce:sce_inflation_since",
    "sce_paid_work": "steps.sce_pay:sce_paid_work",
    "sce_pay_benchmark": "steps.sce_pay:sce_pay_benchmark",
    "sce_normalise": "steps.sce:sce_normalise",
    "sce_percent_to_share": "steps.sce:sce_percent_to_share",
    "sce_previous_month": "steps.sce:sce_previous_month",
    "sce_rate_gap": "steps.sce_modules:sce_rate_gap",
    "sce_trim_benchmark": "steps.sce_pay:sce_trim_benchmark",
    "sce_trim_together": "steps.sce_modules:sce_trim_together",
    "psid_ages": "steps.psid_couples:psid_ages",
    "psid_becomes_owner": "steps.psid:psid_becomes_owner",
    "psid_both_asked": "steps.psid_couples:psid_both_asked",
    "psid_changes": "steps.psid:psid_changes",
    "psid_complete_partner": "steps.psid_food:psid_complete_partner",
    "psid_couple_history": "steps.psid_couples:psid_couple_history",
    "psid_history": "steps.psid:psid_history",
    "psid_household_history": "steps.psid_food:psid_household_history",
    "psid_next_wave": "steps.psid:psid_next_wave",
    "psid_one_loss": "steps.psid_couples:psid_one_loss",
    "psid_previous_food": "steps.psid_food:psid_previous_food",
    "psid_same_structure": "steps.psid_food:psid_same_structure",
    "psid_shocks": "steps.psid_events:psid_shocks",
    "psid_shocks_and_controls": "steps.psid_events:psid_shocks_and_controls",
    "psid_trim_event_income": "steps.psid:psid_trim_event_income",
    "psid_trim_other_waves": "steps.psid:psid_trim_other_waves",
    "psid_years_ahead": "steps.psid:psid_years_ahead",
}
"""Sample steps, by their module in the package."""

_SOURCES = {
    "census": "sources.census:Census",
    "cex_diary": "sources.cex_diary:CexDiary",
    "cex_interview": "sources.cex_interview:CexInterview",
    "cex_rebates_2001": "sources.cex_supplements:CexRebates2001",
    "cex_stimulus_2008": "sources.cex_supplements:CexStimulus2008",
    "cps_basic": "sources.cps_basic:CpsBasic",
    "cpi": "sources.cpi:Cpi",
    "cps_dws": "sources.cps_dws:CpsDws",
    "macro": "sources.macro_context:Macro",
    "state_economy": "sources.state_economy:StateEconomy",
    "ui_policy": "sources.ui_policy:UiPolicy",
    "michigan": "sources.michigan:Michigan",
    "sce_core": "sources.sce_core:SceCore",
    "sce_financing": "sources.sce_financing:SceFinancing",
    "sce_household_spending": "sources.sce_modules:SceHouseholdSpending",
    "sce_housing": "sources.sce_housing:SceHousing",
    "sce_job_search": "sources.sce_job_search:SceJobSearch",
    "sce_labor_market": "sources.sce_modules:SceLaborMarket",
    "sce_public_policy": "sources.sce_modules:ScePublicPolicy",
    "psid": "sources.psid:Psid",
    "psid_main_study": "sources.psid_main_study:PsidMainStudy",
}
"""Sources, by their module in the package."""


@hookimpl
def hbench_register(scope: Scope) -> None:
    """Register the suite's prompt adapters, sources and sample steps."""
    for name, target in _ADAPTERS.items():
        scope.add("adapter", name, f"{_PACKAGE}.phrases.{target}")
    # The paper's table is the general one: ranks by topic, their mean, and averages by kind of target.
    scope.add("leaderboard", "householdbench", "hbench.stat.leaderboard:ranks")
    for name, target in _STEPS.items():
        scope.add("step", name, f"{_PACKAGE}.{target}")
    for name, target in _SOURCES.items():
        scope.add("source", name, f"{_PACKAGE}.{target}")

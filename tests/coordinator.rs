//! What a coordinator promises, whichever way leads to it: one suite, run here on a local one over SQLite.

#[cfg(test)]
mod common;

#[cfg(test)]
#[path = "coordinator/authority.rs"]
mod authority;
#[cfg(test)]
#[path = "coordinator/decisions.rs"]
mod decisions;
#[cfg(test)]
#[path = "coordinator/feed.rs"]
mod feed;
#[cfg(test)]
#[path = "coordinator/ledger.rs"]
mod ledger;
#[cfg(test)]
#[path = "coordinator/masks.rs"]
mod masks;
#[cfg(test)]
#[path = "coordinator/quarantine.rs"]
mod quarantine;
#[cfg(test)]
#[path = "coordinator/races.rs"]
mod races;
#[cfg(test)]
#[path = "coordinator/runtime.rs"]
mod runtime;
#[cfg(test)]
#[path = "coordinator/world.rs"]
mod world;

#[cfg(test)]
use tribunal::domain::command::Rules;
#[cfg(test)]
use tribunal::domain::digest::Scheme;
#[cfg(test)]
use world::LocalHouse;

#[cfg(test)]
macro_rules! suite {
    ($($module:ident: $($case:ident),+;)+) => {
        $(mod $module {$(
            #[test]
            fn $case() {
                super::common::block_on(super::super::$module::$case(&super::LocalHouse::new()));
            }
        )+})+
    };
}

/// The suite on a local coordinator.
#[cfg(test)]
mod local {
    use super::{LocalHouse, common};
    suite! {
        decisions: checks_come_in_the_contracts_order, replay_comes_before_everything_that_changed,
            already_decided_names_the_winner, decision_while_freezing,
            supersedes_while_ready_and_unclaimed_only, canceling_needs_no_side, decision_vs_timeout,
            lease_expires_during_decision, clock_skew, late_and_reordered_results, a_late_answer_never_satisfies_a_newer_question,
            approval_is_answered_yes_or_no, what_is_shown_is_what_is_signed, records_form_a_chain;
        runtime: every_transition, one_claim_wins, leases, effects_happen_once, a_gate_records_what_fails,
            an_expired_lease_makes_it_stuck_and_one_recovery_wins;
        authority: every_operation_by_every_role, out_of_scope_is_not_found, nobody_is_not_authenticated,
            a_worker_reads_what_it_sent_or_received, a_worker_never_decides, scoped_lists_count_what_they_list,
            self_approval, who_may_is_known_before;
        masks: payloads_and_their_copies, what_is_masked_cannot_be_upheld, filters_do_not_tell;
        ledger: pages_go_both_ways, filters_of_records_do_not_tell;
        quarantine: repaired_and_readmitted, dropped_stays_readable, a_sender_cannot_be_forged_by_repair,
            unknown_entries, message_before_task;
        feed: changes_come_in_order_once, followers_do_not_disturb_each_other, a_scoped_follower_sees_its_tasks;
    }
}

/// Fault 32, for the feed: what another process commits is heard, in order, without being told by anybody.
#[test]
fn changes_of_another_process_are_followed() {
    common::block_on(feed::of_another_process(&LocalHouse::new()));
}

/// A ledger longer than one call reads.
#[test]
fn a_long_ledger_is_filtered_call_by_call() {
    common::block_on(ledger::one_call_reads_a_bounded_part(&LocalHouse::new()));
}

/// What waited for its task is read again under the same default scheme as it was put aside under.
#[test]
fn what_waited_is_read_under_the_configured_scheme() {
    let rules = Rules { default_scheme: Scheme::PythonSortedJsonV1, ..Rules::default() };
    common::block_on(quarantine::under_the_configured_scheme(&LocalHouse::with(rules)));
}

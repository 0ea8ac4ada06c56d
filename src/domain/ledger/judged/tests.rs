//! What each term of a filter asks of a record.

use super::*;
use crate::domain::query::Query;
use serde_json::json;

const NOON: i64 = 1_796_040_000_000;

/// A record of rita's, two hours before noon: a question on T-7 answered with a cancellation.
fn record() -> Record {
    let digest = |of: char| format!("sha256:{}", of.to_string().repeat(64));
    let side = json!({
        "intent": {"task_id": "T-7", "class": "outcome", "idempotency_key": "k"}, "message_id": "M-3", "arrival": 3,
        "sender": "agent-a", "type": "task_result", "payload_digest": digest('7'), "digest_scheme": "jcs-sha256/1",
        "verification": "verified", "evidence_refs": [], "trusted": false
    });
    let asked = json!({
        "id": "I-1", "version": 1, "need": "human_approval", "asked_by": "agent-a", "asked_at": "2026-11-30T09:00:00.000Z",
        "prompt": "May it publish the Quarterly?", "schema_digest": null, "expires_at": null
    });
    serde_json::from_value(json!({
        "schema_version": "1", "store_id": "S-1", "sequence": 9, "approval_id": "A-9", "approval_version": 1,
        "task_id": "T-7", "trace_id": "R-1", "decision": "canceled", "from_state": "needs_review", "to_state": "canceled",
        "state_version_before": 4, "state_version_after": 5, "candidates": [side, side], "held": [],
        "interruption": asked, "candidate_set_digest": digest('8'), "set_seen": "digest", "upheld": [],
        "evidence_opened": [], "resume": {"idempotency_key": "k"}, "reason": "Out of Date.", "endorsements": [],
        "principal": {"subject": "rita", "issuer": "local", "method": "file", "roles": ["reviewer"]},
        "policy": {"id": "default", "version": 1, "quorum": 1}, "decided_at": crate::domain::ids::Timestamp(NOON - 7_200_000),
        "previous_record_digest": digest('0'), "record_digest": digest('9')
    }))
    .unwrap()
}

#[test]
fn every_term_that_means_something() {
    let record = record();
    for (filter, me, fits) in [
        ("", "rita", true),
        ("state:canceled", "rita", true),
        ("state:ready", "rita", false),
        ("task:T-*", "rita", true),
        ("task:T-1", "rita", false),
        ("trace:R-1 agent:rita", "rita", true),
        ("agent:agent-a", "rita", false),
        ("mine", "rita", true),
        ("mine", "ruth", false),
        ("-mine", "ruth", true),
        ("age>1h age<3h", "rita", true),
        ("age>3h", "rita", false),
        ("since:3h until:1h", "rita", true),
        ("candidates=2", "rita", true),
        ("candidates>2", "rita", false),
        ("quarterly", "rita", true),
        ("\"out of date\" A-9", "rita", true),
        ("-quarterly", "rita", false),
        ("elsewhere", "rita", false),
        // No record has anything for these.
        ("reason:stuck", "rita", false),
        ("label:team", "rita", false),
        ("failure:delivery", "rita", false),
    ] {
        let query = Query::parse(filter).unwrap();
        assert_eq!(query.matches(&Judged { record: &record, me }, NOON), fits, "{filter} for {me}");
    }
    for key in NOT_OF_RECORDS {
        let (query, errors) = Query::parse_without(&format!("words {key}:stuck"), NOT_OF_RECORDS);
        assert_eq!((query.terms.len(), errors.len()), (1, 1), "{key}");
    }
}

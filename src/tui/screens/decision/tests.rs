//! A decision is made by nothing but its own confirmation, once, on what was seen.

use std::time::Duration;

use insta::assert_snapshot;
use serde_json::json;

use super::super::approvals::Approvals;
use super::super::case::Case;
use super::super::docket::Docket;
use super::super::stage::{DEPTHS, GUARD, HOSTILE, SIZES, Stage, facts, is_clean, live, news};
use super::*;
use crate::domain::testing::owner;
use crate::tui::effect::Effect;
use crate::tui::event::{Change, Event};
use crate::tui::model::Link;
use crate::tui::testing::Script;

/// The case with the decision open over it, long enough for keys to count.
fn opened(stage: &mut Stage, width: u16, height: u16) -> Script {
    let mut script = stage.open(Case::new("T".into()), width, height);
    stage.press(&mut script, "d");
    script.wait(GUARD);
    stage.serve(&mut script);
    script
}

/// What is typed to uphold B for a reason.
fn all_keys(stage: &Stage) -> String {
    let digest = columns::sets(&stage.shown())[0].columns[1].digest.short();
    format!("jjj<space><tab>the filing says so<tab><tab>{digest}")
}

#[test]
fn sizes() {
    for (name, width, height) in SIZES {
        let mut stage = Stage::conflicted();
        assert_snapshot!(name, opened(&mut stage, width, height).screen());
    }
}

#[test]
fn depths() {
    for (name, theme, depth) in DEPTHS {
        let mut stage = Stage::conflicted();
        let styles = stage.styles(Case::new("T".into()), (80, 24), "d", theme, depth);
        assert_snapshot!(format!("styles_{name}"), styles);
    }
}

#[test]
fn nothing_is_chosen_when_it_opens() {
    let mut stage = Stage::conflicted();
    let screen = opened(&mut stage, 120, 40).screen();
    assert!(!screen.contains("(•)") && !screen.contains("[x]"), "{screen}");
    assert!(screen.contains("off: choose ready or cancel"), "{screen}");
}

#[test]
fn tab_goes_past_no_side_and_upholding_nothing_is_said_in_words() {
    let mut stage = Stage::conflicted();
    let mut script = opened(&mut stage, 120, 40);
    let screen = script.screen();
    assert!(screen.contains("space choose  tab next  j down  k up"), "{screen}");
    stage.press(&mut script, "<space>");
    let screen = script.screen();
    let said = "nothing is upheld: both sides are set aside; type ready, then send";
    assert!(screen.contains("▌(•) ready") && screen.contains(said), "{screen}");
    stage.press(&mut script, "<tab>");
    assert!(script.screen().contains("▌[ ] A"), "{}", script.screen());
    // What is typed for a reason chooses nothing there but by space.
    stage.press(&mut script, "<space>");
    let screen = script.screen();
    assert!(screen.contains("▌[x] A") && !screen.contains("nothing is upheld"), "{screen}");
    stage.press(&mut script, "<space><tab>why<backtab>");
    let screen = script.screen();
    assert!(screen.contains("▌[ ] A") && screen.contains("why") && screen.contains(said), "{screen}");
    stage.press(&mut script, "<backtab>");
    assert!(script.screen().contains("▌(•) ready"), "{}", script.screen());
    // Of a task that ends nothing stands, so the sides are passed by.
    stage.press(&mut script, "j<space><tab>more");
    let screen = script.screen();
    assert!(screen.contains("whymore") && screen.contains("Confirm: type cancel, then send"), "{screen}");
    stage.press(&mut script, "<tab><tab><tab>");
    assert!(script.screen().contains("▌( ) ready"), "{}", script.screen());
}

#[test]
fn a_choice_is_restated_and_typing_its_digest_sends_what_was_seen() {
    let mut stage = Stage::conflicted();
    let mut script = opened(&mut stage, 120, 40);
    let keys = all_keys(&stage);
    stage.press(&mut script, &keys);
    assert_snapshot!("ready_to_send", script.screen());
    let shown = stage.shown();
    stage.press(&mut script, "<ctrl-s>");
    let sent = stage.decisions();
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0].expected_version, shown.task.state_version);
    assert_eq!(sent[0].candidate_set_digest, shown.candidate_set_digest);
    assert_eq!((sent[0].upheld.as_slice(), sent[0].reason.as_str()), (&[5][..], "the filing says so"));
    assert!(sent[0].idempotency_key.starts_with("K-"));
    let record = &stage.world.records[0];
    let screen = script.screen();
    assert!(screen.contains(&record.record_digest.to_string()) && screen.contains("record 1 of"), "{screen}");
    script.keys("y");
    let copied = Effect::Copy(record.record_digest.to_string());
    assert_eq!(stage.serve(&mut script), [copied]);
}

#[test]
fn the_preview_is_the_record_that_is_kept() {
    let mut stage = Stage::conflicted();
    let mut script = opened(&mut stage, 120, 200);
    let keys = all_keys(&stage);
    stage.press(&mut script, &keys);
    script.keys("<f2>y");
    let copied = stage.serve(&mut script);
    let [Effect::Copy(text)] = copied.as_slice() else { panic!("{copied:?}") };
    let end = text.find("\n}").unwrap() + 2;
    let shown: serde_json::Value = serde_json::from_str(&text[..end]).unwrap();
    stage.press(&mut script, "<esc><ctrl-s>");
    let kept = serde_json::to_value(&stage.world.records[0]).unwrap();
    for (name, value) in shown.as_object().unwrap() {
        if !matches!(name.as_str(), "resume" | "principal") {
            assert_eq!(&kept[name], value, "{name}");
        }
    }
    let later = [
        "store_id",
        "sequence",
        "approval_id",
        "policy",
        "decided_at",
        "previous_record_digest",
        "record_digest",
    ];
    for (name, _) in kept.as_object().unwrap() {
        let told = shown.get(name).is_some() || later.contains(&name.as_str()) || name == "endorsements";
        assert!(told, "{name} is kept and was not shown");
    }
}

#[test]
fn enter_paste_and_a_wrong_confirmation_decide_nothing() {
    let mut stage = Stage::conflicted();
    let mut script = opened(&mut stage, 120, 40);
    let keys = all_keys(&stage);
    let (before, digest) = keys.split_at(keys.len() - 6);
    stage.press(&mut script, before);
    script.event(Event::Paste(digest.to_owned()));
    stage.press(&mut script, "<ctrl-s><enter><enter>");
    assert!(stage.decisions().is_empty());
    stage.press(&mut script, "000000<ctrl-s>");
    assert!(stage.decisions().is_empty());
    assert!(script.screen().contains(&format!("type {digest} to confirm")), "{}", script.screen());
    stage.press(&mut script, &format!("{}{digest}<enter>", "<backspace>".repeat(6)));
    assert!(stage.decisions().is_empty());
}

#[test]
fn keys_typed_before_the_dialog_was_seen_decide_nothing() {
    let mut stage = Stage::conflicted();
    let keys = all_keys(&stage);
    let mut script = Script::new(Case::new("T".into()), 120, 40);
    script.event(live());
    stage.serve(&mut script);
    // All at once with the key that opens it, then again within 300 ms.
    script.burst(&format!("d{keys}<ctrl-s>"));
    stage.serve(&mut script);
    script.burst(&format!("{keys}<ctrl-s>"));
    stage.serve(&mut script);
    assert!(stage.decisions().is_empty());
    assert!(script.screen().contains("off: choose ready or cancel"), "{}", script.screen());
}

#[test]
fn two_hundred_keys_held_down_never_queue_a_decision() {
    let mut stage = Stage::conflicted();
    for key in ["d", "<enter>", "<space>", "<ctrl-s>", "y", "a", "9"] {
        let mut script = Script::new(Case::new("T".into()), 120, 40);
        script.event(live());
        stage.serve(&mut script);
        script.burst(&key.repeat(200));
        stage.serve(&mut script);
        stage.press(&mut script, "d");
        stage.press(&mut script, &key.repeat(200));
    }
    assert!(stage.decisions().is_empty());
    // Ready to send and the key held down: one decision.
    let mut script = opened(&mut stage, 120, 40);
    let keys = all_keys(&stage);
    stage.press(&mut script, &keys);
    script.burst(&"<ctrl-s>".repeat(200));
    stage.serve(&mut script);
    assert_eq!((stage.decisions().len(), stage.world.records.len()), (1, 1));
}

#[test]
fn a_lost_reply_is_asked_for_under_the_same_key_and_written_once() {
    let mut stage = Stage::conflicted();
    let mut script = opened(&mut stage, 120, 40);
    let keys = all_keys(&stage);
    stage.press(&mut script, &keys);
    stage.loses = true;
    stage.press(&mut script, "<ctrl-s>");
    assert!(script.screen().contains("The reply was lost (the connection broke)"), "{}", script.screen());
    // What may be written already cannot be changed any more.
    stage.press(&mut script, "xxx<backtab>yyy");
    stage.loses = false;
    script.event(Event::Feed(Change::Link(Link::Reconnecting { since: Duration::ZERO })));
    script.event(live());
    stage.serve(&mut script);
    let sent = stage.decisions();
    assert_eq!(sent.len(), 2);
    assert_eq!(sent[0].idempotency_key, sent[1].idempotency_key);
    assert_eq!((&sent[0].reason, &sent[0].upheld), (&sent[1].reason, &sent[1].upheld));
    assert_eq!(stage.world.records.len(), 1);
    assert!(script.screen().contains("this is the same record again"), "{}", script.screen());
}

#[test]
fn refused_as_stale_it_says_who_changed_what_and_keeps_the_reason() {
    let mut stage = Stage::conflicted();
    let mut script = opened(&mut stage, 120, 40);
    let keys = all_keys(&stage);
    stage.press(&mut script, &keys);
    // Somebody is quicker, and the news has not arrived yet.
    let mut other = stage.world.decision(TaskState::Ready);
    other.reason = "called them".into();
    stage.world.decide_as(other, owner()).unwrap();
    stage.press(&mut script, "<ctrl-s>");
    let screen = script.screen();
    assert!(screen.contains("REFUSED, nothing was written: already decided: ready by ana"), "{screen}");
    assert!(screen.contains("DECIDED ana"), "{screen}");
    assert_eq!(stage.world.records.len(), 1);
    assert_snapshot!("refused", screen);
    stage.press(&mut script, "<tab>");
    assert!(script.screen().contains("the filing says so"));
}

#[test]
fn a_side_that_arrives_stops_it_and_the_reason_is_there_when_one_comes_back() {
    let mut stage = Stage::conflicted();
    let mut script = opened(&mut stage, 120, 40);
    let keys = all_keys(&stage);
    stage.press(&mut script, &keys);
    stage.result("M-9", "researcher-c", "2026-11-30T12:00:00Z", facts(1, "hearsay"), json!([]));
    script.event(news());
    stage.serve(&mut script);
    stage.press(&mut script, "<ctrl-s>");
    assert!(stage.decisions().is_empty());
    let screen = script.screen();
    assert!(
        screen.contains("CONFLICT M-9") && screen.contains("the task changed since you looked"),
        "{screen}"
    );
    stage.press(&mut script, "<esc>cd");
    script.wait(GUARD);
    assert!(script.screen().contains("the filing says so"), "{}", script.screen());
}

#[test]
fn it_is_off_with_the_reason_beside_it() {
    let told = |stage: &mut Stage, keys: &str| {
        stage.drafts.clear();
        let mut script = opened(stage, 120, 40);
        stage.press(&mut script, keys);
        stage.press(&mut script, "<ctrl-s>");
        assert!(stage.decisions().is_empty());
        script.screen()
    };
    let mut stage = Stage::conflicted();
    let keys = all_keys(&stage);
    stage.may.insert("decide", false);
    let screen = told(&mut stage, &keys);
    assert!(screen.contains("not permitted: this is for a reviewer"), "{screen}");
    stage.may.clear();
    stage.own = vec![5];
    let screen = told(&mut stage, &keys);
    assert!(screen.contains("you wrote #5 and may not judge it"), "{screen}");
    stage.own.clear();
    let blank = keys.replace("the filing says so", "   ");
    let screen = told(&mut stage, &blank);
    assert!(screen.contains("a reason is required"), "{screen}");
    let secret = keys.replace("the filing says so", "password: hunter2hunter2");
    let screen = told(&mut stage, &secret);
    assert!(screen.contains("the reason holds a password or key"), "{screen}");
    stage.missing = vec![5];
    let screen = told(&mut stage, "jjj<space>");
    assert!(screen.contains("? not fetched") && !screen.contains("[x]"), "{screen}");
    stage.missing.clear();
    stage.drafts.clear();
    let mut script = opened(&mut stage, 120, 40);
    stage.press(&mut script, &keys);
    script.event(Event::Feed(Change::Link(Link::Reconnecting { since: Duration::ZERO })));
    stage.press(&mut script, "<ctrl-s>");
    assert!(stage.decisions().is_empty());
    assert!(
        script.screen().contains("off: the connection is lost and what is shown may be old"),
        "{}",
        script.screen()
    );
}

#[test]
fn what_was_not_on_the_screen_is_not_upheld_but_a_task_can_be_canceled() {
    let mut stage = Stage::conflicted();
    let mut script = stage.open(Decision::new("T".into()), 120, 40);
    stage.press(&mut script, "jj<space>");
    let screen = script.screen();
    assert!(!screen.contains("[x]") && screen.contains("was not on your screen"), "{screen}");
    stage.press(&mut script, "k<space><tab>not needed any more<tab><tab>cancel<ctrl-s>");
    assert_eq!(stage.decisions().len(), 1);
    assert_eq!(stage.world.task().state, TaskState::Canceled);
}

#[test]
fn from_the_docket_a_conflict_is_read_before_it_is_decided() {
    let mut stage = Stage::conflicted();
    let mut script = stage.open(Docket::new(), 120, 40);
    stage.press(&mut script, "d");
    let screen = script.screen();
    assert!(screen.contains("conflict: outcome") && !screen.contains("Decide T"), "{screen}");
    assert!(screen.contains("read the sides, then d decides"), "{screen}");
    stage.press(&mut script, "d");
    script.wait(GUARD);
    stage.serve(&mut script);
    assert!(!script.screen().contains("read the sides"), "{}", script.screen());
    stage.press(&mut script, "jj<space>");
    assert!(script.screen().contains("[x] A"), "{}", script.screen());
}

#[test]
fn a_side_that_was_never_compared_is_not_upheld() {
    let mut stage = Stage::conflicted();
    stage.result("M-9", "researcher-c", "2026-11-30T12:00:00Z", facts(1, "hearsay"), json!([]));
    let mut script = opened(&mut stage, 120, 40);
    stage.press(&mut script, "jjjj<space>");
    assert!(script.screen().contains("was not on your screen"), "{}", script.screen());
    stage.press(&mut script, "<esc>]");
    stage.press(&mut script, "d");
    script.wait(GUARD);
    stage.press(&mut script, "jjjj<space>");
    assert!(script.screen().contains("[x] C"), "{}", script.screen());
}

#[test]
fn a_correction_from_the_ledger_goes_through_the_sides_and_can_uphold_one() {
    for keys in ["s", "<enter>s"] {
        let mut stage = Stage::conflicted();
        let first = stage.world.decision(TaskState::Ready);
        stage.world.decide_as(first, owner()).unwrap();
        let old = stage.world.records[0].approval_id.clone();
        let mut script = stage.open(Approvals::new(None), 120, 40);
        for key in crate::tui::testing::parse(keys) {
            stage.press(&mut script, &format!("<{key}>"));
        }
        assert!(script.screen().contains("then d corrects it"), "{}", script.screen());
        stage.press(&mut script, "d");
        script.wait(GUARD);
        stage.serve(&mut script);
        assert!(script.screen().contains("Supersede T"), "{}", script.screen());
        let keys = all_keys(&stage);
        stage.press(&mut script, &format!("{keys}<ctrl-s>"));
        assert_eq!(stage.world.records.len(), 2, "{}", script.screen());
        let second = &stage.world.records[1];
        assert_eq!((second.supersedes.as_deref(), second.upheld.as_slice()), (Some(old.as_str()), &[5][..]));
    }
}

#[test]
fn only_the_latest_record_is_corrected_and_only_until_work_goes_on() {
    let mut stage = Stage::conflicted();
    let first = stage.world.decision(TaskState::Ready);
    stage.world.decide_as(first, owner()).unwrap();
    let old = stage.world.records[0].approval_id.clone();
    assert_eq!(correct::correctable(&stage.shown()), Some(old.clone()));
    let why = correct::not_correctable(&stage.shown(), "A-other").unwrap();
    assert!(why.contains("A-other cannot be superseded: the latest of T is"), "{why}");
    stage.world.claim("researcher-a").unwrap();
    let why = correct::not_correctable(&stage.shown(), &old).unwrap();
    assert!(why.contains("work has gone on"), "{why}");
    let mut script = stage.open(Approvals::new(None), 120, 40);
    stage.press(&mut script, "s");
    let screen = script.screen();
    assert!(screen.contains("work has gone on") && screen.contains("Approvals · 1 records"), "{screen}");
}

#[test]
fn where_three_screens_are_open_the_sides_take_the_place_of_the_ledger() {
    let mut stage = Stage::conflicted();
    let first = stage.world.decision(TaskState::Ready);
    stage.world.decide_as(first, owner()).unwrap();
    let mut script = stage.open(Docket::new(), 120, 40);
    for key in ["<enter>", "A", "<enter>", "s"] {
        stage.press(&mut script, key);
    }
    assert!(script.screen().contains("then d corrects it"), "{}", script.screen());
    // Back to the case from which the ledger was opened, and then to the list.
    for _ in 0..2 {
        assert!(script.screen().contains("conflict: outcome"), "{}", script.screen());
        stage.press(&mut script, "<esc>");
    }
    assert!(script.screen().contains("[All 1]"), "{}", script.screen());
}

#[test]
fn a_task_that_does_not_wait_says_so_and_opens_no_form() {
    let mut stage = Stage::running();
    let screen = opened(&mut stage, 120, 40).screen();
    assert!(screen.contains("T is running: nothing to decide") && !screen.contains("Decide T"), "{screen}");
    assert_eq!(correct::nothing_to_decide(&Stage::conflicted().shown()), None);
}

#[test]
fn a_record_is_superseded_while_that_is_possible() {
    let mut stage = Stage::conflicted();
    let mut script = opened(&mut stage, 120, 40);
    let keys = all_keys(&stage);
    stage.press(&mut script, &keys);
    stage.press(&mut script, "<ctrl-s>");
    stage.press(&mut script, "s");
    script.wait(GUARD);
    assert!(script.screen().contains("Supersede T"), "{}", script.screen());
    stage.press(&mut script, "j<up><space><tab><tab>it was a draft<tab><tab>ready<ctrl-s>");
    assert_eq!(stage.world.records.len(), 2, "{}", script.screen());
    assert_eq!(stage.world.records[1].supersedes.as_deref(), Some("A-1"));
    assert!(stage.world.records[1].upheld.is_empty());
    assert!(script.screen().contains("record 2 of") && !script.screen().contains("superseded by"));
    // Below it is what was recorded first.
    script.event(news());
    stage.serve(&mut script);
    stage.press(&mut script, "<esc>");
    let screen = script.screen();
    assert!(screen.contains("record 1 of") && screen.contains("superseded by record 2"), "{screen}");
}

#[test]
fn no_size_panics_and_nothing_foreign_reaches_the_screen() {
    let mut stage = Stage::running();
    for (id, n) in [("M-1", 1), ("M-2", 2)] {
        stage.result(id, &format!("agent{HOSTILE}"), "2026-11-30T11:59:58Z", json!(n), json!([HOSTILE]));
    }
    let mut script = opened(&mut stage, 120, 40);
    for (width, height) in [(1, 1), (0, 0), (40, 12), (41, 13), (300, 100), (2, 60), (200, 1), (80, 24)] {
        script.event(Event::Resize { width, height });
        stage.press(&mut script, "jj<space><tab>x<tab><tab>y<pgdn><f2>");
        assert!(is_clean(&script), "{}", script.screen());
        stage.press(&mut script, "<esc><backtab><backtab><backtab>");
        assert!(is_clean(&script), "{}", script.screen());
    }
}

//! Every event in order, repeats folded, gaps marked, and never more held than a window.

use insta::assert_snapshot;
use serde_json::json;

use super::super::stage::{HOSTILE, Stage, is_clean, live, news};
use super::*;
use crate::domain::event::{Event as Fact, What};
use crate::domain::ids::Timestamp;
use crate::domain::task::TaskState;
use crate::domain::testing::T0;
use crate::tui::event::Change;
use crate::tui::model::Link;
use crate::tui::testing::Script;
use crate::tui::theme::Depth;

fn decided() -> Stage {
    let mut stage = Stage::conflicted();
    let mut decision = stage.world.decision(TaskState::Ready);
    decision.upheld = vec![5];
    stage.world.decide(decision).unwrap();
    stage
}

fn opened(stage: &mut Stage, width: u16, height: u16) -> Script {
    let mut script = Script::new(Timeline::new("T".into()), width, height);
    script.event(live());
    stage.serve(&mut script);
    script
}

fn press(stage: &mut Stage, script: &mut Script, keys: &str) {
    script.keys(keys);
    stage.serve(script);
}

#[test]
fn sizes() {
    for (name, width, height) in
        [("120x40", 120, 40), ("80x24", 80, 24), ("40x12", 40, 12), ("20x5", 20, 5), ("1x1", 1, 1)]
    {
        assert_snapshot!(name, opened(&mut decided(), width, height).screen());
    }
}

#[test]
fn depths() {
    for (name, theme, depth) in [
        ("true_colour", "default-dark", Depth::True),
        ("16_colours", "ansi16", Depth::Sixteen),
        ("mono", "mono", Depth::Mono),
    ] {
        let mut stage = decided();
        let mut script = Script::themed(Timeline::new("T".into()), 80, 24, theme, depth);
        script.event(live());
        stage.serve(&mut script);
        assert_snapshot!(format!("styles_{name}"), script.styles());
    }
}

#[test]
fn repeats_are_folded_with_their_count_and_unfold() {
    let mut stage = decided();
    let mut script = opened(&mut stage, 120, 40);
    assert!(
        script.screen().contains("×2 duplicates, the first: duplicate M-1, repeats #2"),
        "{}",
        script.screen()
    );
    press(&mut stage, &mut script, "x");
    let screen = script.screen();
    assert!(screen.contains("duplicate M-2, repeats #2") && !screen.contains("×2"), "{screen}");
}

#[test]
fn kinds_and_words_filter_and_the_way_of_telling_time_changes() {
    let mut stage = decided();
    let mut script = opened(&mut stage, 120, 40);
    press(&mut stage, &mut script, "ff");
    let screen = script.screen();
    assert!(screen.contains("only transitions") && screen.contains("needs_review → ready"), "{screen}");
    assert!(!screen.contains("researcher-b"), "{screen}");
    press(&mut stage, &mut script, "ffff/RESEARCHER-b<enter>");
    let screen = script.screen();
    assert!(screen.contains("researcher-b") && !screen.contains("researcher-a"), "{screen}");
    press(&mut stage, &mut script, "cc");
    assert!(script.screen().contains("4m ago"), "{}", script.screen());
    press(&mut stage, &mut script, "/x<esc>");
    assert!(script.screen().contains("researcher-b"), "a filter that is left changes nothing");
}

#[test]
fn the_original_envelope_is_opened_also_for_a_repeat() {
    let mut stage = decided();
    let mut script = opened(&mut stage, 120, 40);
    press(&mut stage, &mut script, "/M-1<enter>");
    press(&mut stage, &mut script, "gj<enter>");
    let screen = script.screen();
    assert!(
        screen.contains("envelope #2, which #3 repeats") && screen.contains("\"message_id\": \"M-1\""),
        "{screen}"
    );
    press(&mut stage, &mut script, "<esc>/<backspace><backspace><backspace>DECIDED<enter>");
    press(&mut stage, &mut script, "<enter>");
    assert!(script.screen().contains("\"approval_id\": \"A-1\""), "{}", script.screen());
}

#[test]
fn gaps_are_marked() {
    let mut stage = Stage::running();
    stage.say(
        "task_result",
        "M-1",
        "k",
        json!(1),
        json!({"created_at": "2026-11-30T13:00:00Z", "sender": "researcher-a"}),
    );
    let mut script = opened(&mut stage, 120, 40);
    let screen = script.screen();
    assert!(screen.contains("! claimed time contradicts arrival, no lease"), "{screen}");
    stage.world.now = Timestamp(T0.0 - 60_000);
    stage.say("task_result", "M-2", "k", json!(2), json!({"sender": "researcher-a", "lease_version": 1}));
    script.event(news());
    stage.serve(&mut script);
    assert!(script.screen().contains("the clock ran backwards"), "{}", script.screen());
}

fn renewed(revision: u64) -> Fact {
    let what = What::Renewed { lease_version: 1, expires_at: T0 };
    Fact { revision, at: Timestamp(T0.0 + i64::try_from(revision).unwrap()), state_version: 3, what }
}

#[test]
fn of_a_hundred_thousand_events_a_window_is_held_and_every_one_can_be_reached() {
    let mut window = Window::new();
    window.end = 100_000;
    let page = |after: u64, limit: usize| -> Vec<Fact> {
        (after + 1..=(after + limit as u64).min(100_000)).map(renewed).collect()
    };
    while let Some((after, limit)) = window.next(true) {
        window.take(after, &page(after, limit));
        assert!(window.len() <= 4000);
    }
    assert_eq!(window.id(window.len() - 1), Some(100_000));
    while let Some((after, limit)) = window.next(false) {
        window.take(after, &page(after, limit));
        assert!(window.len() <= 4000);
    }
    assert_eq!(window.id(0), Some(1));
    assert_eq!(window.row(&1), Some(0));
}

#[test]
fn no_size_panics_and_nothing_foreign_reaches_the_screen() {
    let mut stage = Stage::running();
    let change = json!({"sender": format!("agent{HOSTILE}"), "evidence_refs": [HOSTILE]});
    stage.say("task_progress", &format!("M{HOSTILE}"), "p", json!({"text": HOSTILE}), change);
    stage.say(
        "task_failure",
        "M-2",
        "k",
        json!({"category": "failed", "message": HOSTILE}),
        json!({"sender": "researcher-a", "lease_version": 1}),
    );
    let mut script = opened(&mut stage, 120, 40);
    for (width, height) in [(1, 1), (0, 0), (40, 12), (41, 13), (300, 100), (2, 60), (200, 1), (80, 24)] {
        script.event(Event::Resize { width, height });
        for keys in ["G", "k<enter>", "<esc>", "x", "c", "f", "fffff", "/a", "<enter>", "/<backspace><enter>"]
        {
            press(&mut stage, &mut script, keys);
            assert!(is_clean(&script), "{}", script.screen());
        }
    }
}

#[test]
fn an_answer_is_told_with_its_verdict_and_content() {
    use crate::domain::decision::{Input, Part};
    let input = |parts, approved| Input { parts, schema_digest: None, approved };
    assert_eq!(super::words::said(&input(Vec::new(), Some(false))), "DENIED");
    let parts = vec![Part::Text("go\u{202e}".into()), Part::Data(serde_json::json!({"region": "eu"}))];
    let told = super::words::said(&input(parts, Some(true)));
    assert!(told.starts_with("approved; answered go") && !told.contains('\u{202e}'), "{told}");
    assert!(told.ends_with(r#"answered {"region":"eu"}"#), "{told}");
}

#[test]
fn deciding_leads_to_the_sides_first_and_to_the_dialog_where_there_are_none() {
    let mut stage = Stage::conflicted();
    let mut script = opened(&mut stage, 100, 40);
    press(&mut stage, &mut script, "d");
    let screen = script.screen();
    assert!(
        screen.contains("difference 1 of") && screen.contains("read the sides, then d decides"),
        "{screen}"
    );
    let mut stage = Stage::waiting(json!({"prompt": "Which region?"}));
    let mut script = opened(&mut stage, 100, 40);
    press(&mut stage, &mut script, "d");
    assert!(script.screen().contains("Decide T"), "{}", script.screen());
    script.keys("<esc>");
    script.event(Event::Feed(Change::Link(Link::Reconnecting { since: Duration::ZERO })));
    stage.serve(&mut script);
    press(&mut stage, &mut script, "d");
    let screen = script.screen();
    assert!(screen.contains("nothing can be decided now: the connection is lost"), "{screen}");
    assert!(!screen.contains("Decide T"), "{screen}");
}

//! What a reviewer sees: every side whole, in order of arrival, nothing chosen, nothing hidden.

mod comparing;
mod decided;
mod marks;

use insta::assert_snapshot;
use serde_json::json;

use super::super::stage::{HOSTILE, Stage, facts, is_clean, live, news};
use super::*;
use crate::domain::attention::Stuck;
use crate::tui::testing::Script;
use crate::tui::theme::Depth;

fn opened(stage: &mut Stage, width: u16, height: u16) -> Script {
    let mut script = Script::new(Case::new("T".into()), width, height);
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
        let mut stage = Stage::conflicted();
        assert_snapshot!(name, opened(&mut stage, width, height).screen());
    }
}

#[test]
fn depths() {
    for (name, theme, depth) in [
        ("true_colour", "default-dark", Depth::True),
        ("16_colours", "ansi16", Depth::Sixteen),
        ("mono", "mono", Depth::Mono),
    ] {
        let mut stage = Stage::conflicted();
        let mut script = Script::themed(Case::new("T".into()), 80, 24, theme, depth);
        script.event(live());
        stage.serve(&mut script);
        assert_snapshot!(format!("styles_{name}"), script.styles());
    }
}

#[test]
fn five_deliveries_in_two_digests_are_two_columns_in_order_of_arrival() {
    let stage = Stage::conflicted();
    let sets = columns::sets(&stage.shown());
    assert_eq!(sets.len(), 1);
    let told: Vec<_> = sets[0].columns.iter().map(|c| (c.label.as_str(), c.arrival(), c.times())).collect();
    assert_eq!(told, [("A", 2, "3 deliveries".into()), ("B", 5, "1 delivery".into())]);
    // B came later and claims to be earlier.
    let wrong: Vec<u64> = columns::contradicted(&sets[0].columns).into_iter().collect();
    assert_eq!(wrong, [5]);
    let (a, b) = (&sets[0].columns[0], &sets[0].columns[1]);
    assert!(columns::disputed(a.evidence()[0], a, &sets[0].columns));
    assert!(columns::disputed(b.evidence()[0], b, &sets[0].columns));
    assert_eq!((columns::label(25), columns::label(26)), ("Z".into(), "AA".into()));
}

#[test]
fn the_wide_screen_shows_both_digests_in_full_and_the_narrow_one_enough_to_confirm() {
    let mut stage = Stage::conflicted();
    let sets = columns::sets(&stage.shown());
    let screen = opened(&mut stage, 180, 40).screen();
    for column in &sets[0].columns {
        assert!(screen.contains(&column.digest.to_string()), "{screen}");
    }
    let screen = opened(&mut stage, 80, 24).screen();
    for column in &sets[0].columns {
        assert!(screen.contains(&format!("sha256:{}", column.digest.short())), "{screen}");
    }
    assert!(
        screen.contains("claimed 11:59:40Z !") && screen.contains("! digest differs: file:filings.csv"),
        "{screen}"
    );
    assert!(screen.contains("✓ verified") && screen.contains("untrusted"), "{screen}");
}

#[test]
fn differences_are_counted_and_reached_one_by_one() {
    let mut stage = Stage::conflicted();
    let mut script = opened(&mut stage, 120, 40);
    press(&mut stage, &mut script, "gn");
    assert!(script.screen().contains("difference 1 of 4"), "{}", script.screen());
    press(&mut stage, &mut script, "nnn");
    assert!(script.screen().contains("difference 4 of 4"), "{}", script.screen());
    press(&mut stage, &mut script, "n");
    assert!(script.screen().contains("no difference after this"));
    press(&mut stage, &mut script, "N");
    assert!(script.screen().contains("difference 3 of 4"));
}

#[test]
fn whole_and_raw_show_each_side_and_enter_opens_a_value_in_its_text() {
    let mut stage = Stage::conflicted();
    let mut script = opened(&mut stage, 80, 24);
    press(&mut stage, &mut script, "v");
    assert!(script.screen().contains("\"currency\": \"EUR\","), "{}", script.screen());
    press(&mut stage, &mut script, "<tab>");
    press(&mut stage, &mut script, "<tab>");
    press(&mut stage, &mut script, "v");
    assert!(script.screen().contains("raw"), "{}", script.screen());
    press(&mut stage, &mut script, "vn<enter>");
    let screen = script.screen();
    assert!(screen.contains("digest verified") && screen.contains("untrusted"), "{screen}");
    assert_snapshot!("opened_value", screen);
}

#[test]
fn of_three_sides_any_two_are_compared_and_swapped() {
    let mut stage = Stage::conflicted();
    stage.result("M-9", "researcher-c", "2026-11-30T12:00:00Z", facts(1, "hearsay"), json!([]));
    let mut script = opened(&mut stage, 120, 40);
    assert!(script.screen().contains("[A][B] C"), "{}", script.screen());
    press(&mut stage, &mut script, "]");
    assert!(script.screen().contains("[A] B [C]"), "{}", script.screen());
    assert!(script.screen().contains("hearsay") && script.screen().contains("no evidence"));
    press(&mut stage, &mut script, "s");
    let screen = script.screen();
    let first = screen.lines().find(|line| line.contains("task_result")).unwrap();
    assert!(first.find(" C ").unwrap() < first.find(" A ").unwrap(), "{first}");
}

#[test]
fn equal_in_canonical_form_is_said_with_the_reason() {
    let payload = "{\"a\":1.0,\"b\":\"x\"}";
    let diff = crate::domain::diff::Diff::new(
        std::sync::Arc::from(payload.as_bytes()),
        std::sync::Arc::from(&b"{ \"b\":\"\\u0078\", \"a\":1 }"[..]),
        &std::sync::atomic::AtomicBool::new(false),
        crate::domain::diff::Limits::default(),
    )
    .unwrap();
    assert_eq!(
        notes::alike(&diff).unwrap(),
        "equal in canonical form, different bytes: white space, the order of members, how numbers are written, escapes in strings"
    );
}

#[test]
fn a_side_that_arrives_while_one_reads_is_announced_and_stops_deciding_until_noted() {
    let mut stage = Stage::conflicted();
    let mut script = opened(&mut stage, 120, 40);
    stage.result("M-9", "researcher-c", "2026-11-30T12:00:00Z", facts(1, "hearsay"), json!([]));
    script.event(news());
    stage.serve(&mut script);
    let screen = script.screen();
    assert!(screen.contains("ARRIVED while you read: C #6 from researcher-c"), "{screen}");
    assert!(screen.contains("CNEW") || screen.contains("C NEW"), "{screen}");
    press(&mut stage, &mut script, "d");
    assert!(script.screen().contains("acknowledge it first"), "{}", script.screen());
    press(&mut stage, &mut script, "cd");
    assert!(script.screen().contains("Decide T"), "{}", script.screen());
}

#[test]
fn nothing_an_agent_wrote_reaches_the_screen_as_it_is() {
    let mut stage = Stage::running();
    for (id, n) in [("M-1", 1), ("M-2", 2)] {
        let mut payload = json!({"text": format!("{HOSTILE}{n}"), "n": n});
        payload[HOSTILE] = json!(n);
        let refs = json!([{"uri": HOSTILE, "title": HOSTILE, "media_type": HOSTILE}]);
        stage.result(id, &format!("agent{HOSTILE}"), "2026-11-30T11:59:58Z", payload, refs);
    }
    for (width, height) in [(120, 40), (80, 24), (40, 12)] {
        let mut script = opened(&mut stage, width, height);
        for keys in [
            "", "n", "<enter>", "v", "<esc>", "e", "<esc>", "v", "v", "v", "w", "t", "<enter>", "<esc>",
            "<esc>", "d", "v",
        ] {
            press(&mut stage, &mut script, keys);
            assert!(is_clean(&script), "{keys} {width}\n{}", script.screen());
        }
    }
}

#[test]
fn no_size_panics() {
    let mut stage = Stage::conflicted();
    let mut script = opened(&mut stage, 120, 40);
    for (width, height) in
        [(1, 1), (0, 0), (40, 12), (119, 9), (300, 100), (41, 13), (2, 60), (200, 1), (120, 12)]
    {
        script.event(Event::Resize { width, height });
        press(&mut stage, &mut script, "nj<tab>vvvw]shl<enter>jG<esc>e<esc>d<esc>t<esc>");
    }
}

#[test]
fn a_task_that_is_not_in_review_says_why_it_waits_and_what_is_safe() {
    for (name, width, height) in [("task_80x24", 80, 24), ("task_40x12", 40, 12)] {
        let mut stage = Stage::running();
        stage.stuck = Some(Stuck::LeaseExpired);
        stage.say(
            "task_progress",
            "M-1",
            "p",
            json!({"done": 0.5}),
            json!({"sender": "researcher-a", "lease_version": 1}),
        );
        let mut script = opened(&mut stage, width, height);
        script.wait(Duration::from_secs(60));
        assert_snapshot!(name, script.screen());
        press(&mut stage, &mut script, "j<enter>");
        assert!(script.screen().contains("\"done\": 0.5"), "{}", script.screen());
    }
}

#[test]
fn the_whole_digest_is_copied() {
    let mut stage = Stage::conflicted();
    let digest = columns::sets(&stage.shown())[0].columns[1].digest.to_string();
    let mut script = opened(&mut stage, 80, 24);
    script.keys("<tab><tab>Y");
    assert_eq!(stage.serve(&mut script), [Effect::Copy(digest)]);
}

#[test]
fn a_question_is_shown_also_where_outcomes_are_held_beside_it() {
    let mut stage = Stage::waiting(json!({"prompt": "Which region?"}));
    stage.result("M-9", "researcher-a", "2026-11-30T12:00:00Z", facts(1, "hearsay"), json!([]));
    assert_eq!(stage.world.task().held, [3]);
    let mut script = opened(&mut stage, 120, 40);
    let screen = script.screen();
    assert!(screen.contains("Which region?") && screen.contains("held"), "{screen}");
    press(&mut stage, &mut script, "a");
    script.wait(Duration::from_millis(300));
    assert!(script.screen().contains("1 held outcome is judged with this"), "{}", script.screen());
}

#[test]
fn a_receipt_stands_beside_the_one_that_is_done_already() {
    let mut stage = Stage::running();
    let effect = json!({"sender": "researcher-a", "effect": {"key": "pay:1", "target": "bank:1"}});
    stage.say("receipt", "M-1", "r-1", json!({"amount": "1240.00"}), effect.clone());
    stage.say("receipt", "M-2", "r-2", json!({"amount": "1204.00"}), effect);
    let sets = columns::sets(&stage.shown());
    assert_eq!(sets.len(), 1);
    let told: Vec<_> = sets[0].columns.iter().map(|column| (column.arrival(), column.done)).collect();
    assert_eq!(told, [(2, true), (3, false)]);
    let screen = opened(&mut stage, 120, 40).screen();
    assert_eq!(screen.matches("ALREADY DONE").count(), 1, "{screen}");
    assert!(
        screen.contains("1240.00") && screen.contains("already done: effect pay:1 on bank:1"),
        "{screen}"
    );
}

#[test]
fn a_name_that_imitates_another_is_said_to_mix_scripts() {
    let mut stage = Stage::running();
    stage.result("M-1", "deployer", "2026-11-30T11:59:58Z", json!(1), json!([]));
    stage.result("M-2", "dep\u{43b}oyer", "2026-11-30T11:59:59Z", json!(2), json!([]));
    let mut script = opened(&mut stage, 120, 40);
    assert_eq!(script.screen().matches("(mixed scripts!)").count(), 1, "{}", script.screen());
    press(&mut stage, &mut script, "d");
    assert_eq!(script.screen().matches("(mixed scripts!)").count(), 1, "{}", script.screen());
}

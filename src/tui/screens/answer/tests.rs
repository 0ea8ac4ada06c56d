//! An answer is what the question asked for, sent once, by nothing but its own confirmation.

use std::time::Duration;

use insta::assert_snapshot;
use serde_json::{Value, json};

use super::super::stage::{DEPTHS, GUARD, HOSTILE, SIZES, Stage, is_clean, live, news};
use super::*;
use crate::tui::event::Event;
use crate::tui::testing::Script;

fn form() -> Value {
    json!({
        "prompt": "Which region are the figures for, and which quarters?\nThe filing covers two regions.",
        "action": "write the quarterly report",
        "scope": "the report of 2025",
        "expires_at": "2026-11-30T12:30:00Z",
        "resume": "report:step-3",
        "schema": {
            "type": "object",
            "required": ["region", "count"],
            "properties": {
                "region": {"type": "string", "title": "Region", "oneOf": [
                    {"const": "eu", "title": "Europe"}, {"const": "us", "title": "United States"},
                ]},
                "count": {"type": "integer", "title": "How many quarters", "minimum": 1, "maximum": 4},
                "draft": {"type": "boolean", "title": "Mark it as a draft", "default": true},
                "note": {"type": "string", "title": "Note", "description": "For the readers of the report."},
                "parts": {"type": "array", "title": "Parts", "items": {"enum": ["summary", "tables"]}, "uniqueItems": true},
            },
        },
    })
}

fn opened(stage: &mut Stage, width: u16, height: u16) -> Script {
    stage.open(Answer::new("T".into()), width, height)
}

/// Europe, 2 quarters; the rest as it is offered.
const FILLED: &str = "<space><tab>2<tab><tab><tab><tab>as the filing says<tab>answer";

#[test]
fn sizes() {
    for (name, width, height) in SIZES {
        let mut stage = Stage::waiting(form());
        assert_snapshot!(name, opened(&mut stage, width, height).screen());
    }
}

#[test]
fn depths() {
    for (name, theme, depth) in DEPTHS {
        let mut stage = Stage::waiting(form());
        let styles = stage.styles(Answer::new("T".into()), (80, 40), "", theme, depth);
        assert_snapshot!(format!("styles_{name}"), styles);
    }
}

#[test]
fn the_filled_form_is_sent_once_as_the_preview_said() {
    let mut stage = Stage::waiting(form());
    let mut script = opened(&mut stage, 120, 50);
    stage.press(&mut script, FILLED);
    assert_snapshot!("filled", script.screen());
    script.keys("<f2>y");
    let copied = stage.serve(&mut script);
    let [Effect::Copy(text)] = copied.as_slice() else { panic!("{copied:?}") };
    let preview: Value = serde_json::from_str(text).unwrap();
    stage.press(&mut script, "<esc>");
    script.burst(&"<ctrl-s>".repeat(200));
    stage.serve(&mut script);
    let sent = stage.decisions();
    assert_eq!(sent.len(), 1, "{}", script.screen());
    assert_eq!(serde_json::to_value(sent[0]).unwrap(), preview);
    assert_eq!(sent[0].resume.as_ref().unwrap().idempotency_key, "report:step-3");
    let input = sent[0].input.as_ref().unwrap();
    let value = json!({"region": "eu", "count": 2, "draft": true});
    assert_eq!(input.parts, [Piece::Data(value)]);
    assert_eq!(stage.world.records.len(), 1);
    assert!(script.screen().contains(&stage.world.records[0].record_digest.to_string()));
}

#[test]
fn the_cursor_shows_and_moves_and_only_space_chooses_what_is_sent() {
    let mut stage = Stage::waiting(form());
    let mut script = opened(&mut stage, 120, 50);
    assert!(script.screen().contains("▌( ) Europe"), "{}", script.screen());
    stage.press(&mut script, "<down>");
    let screen = script.screen();
    assert!(screen.contains("▌( ) United States") && !screen.contains("(•) United States"), "{screen}");
    stage.press(&mut script, "<space><tab>2<tab><tab><tab><tab>as the filing says<tab>answer");
    assert!(script.screen().contains(r#"what will be sent: Region "us""#), "{}", script.screen());
    stage.press(&mut script, "<ctrl-s>");
    let input = stage.decisions()[0].input.as_ref().unwrap();
    assert_eq!(input.parts, [Piece::Data(json!({"region": "us", "count": 2, "draft": true}))]);
}

#[test]
fn errors_stand_beside_their_fields_and_send_nothing() {
    let mut stage = Stage::waiting(form());
    let mut script = opened(&mut stage, 120, 50);
    stage.press(&mut script, "<tab>9<tab><tab><tab><tab>why<tab>answer<ctrl-s>");
    let screen = script.screen();
    assert!(stage.decisions().is_empty());
    assert!(screen.contains("▲ an answer is required"), "{screen}");
    assert_snapshot!("errors", screen);
}

#[test]
fn text_without_a_schema_is_free_and_secrets_are_refused_with_advice() {
    let mut stage = Stage::waiting(json!({"prompt": "Say why."}));
    let mut script = opened(&mut stage, 100, 30);
    stage.press(
        &mut script,
        "Authorization: Bearer abcdefghijklmnopqrstuvwxyz0123456789<tab>r<tab>answer<ctrl-s>",
    );
    assert!(stage.decisions().is_empty());
    assert!(script.screen().contains("the answer holds an authorization header"), "{}", script.screen());
    stage.press(
        &mut script,
        "<tab><alt-backspace><alt-backspace><alt-backspace><alt-backspace><alt-backspace>",
    );
    stage.press(&mut script, "because");
    stage.press(&mut script, "<tab><tab><ctrl-s>");
    let sent = stage.decisions();
    assert_eq!(sent.len(), 1, "{}", script.screen());
    let Some(Piece::Text(text)) = sent[0].input.as_ref().and_then(|input| input.parts.first()) else {
        panic!()
    };
    assert!(text.ends_with("because"));
}

#[test]
fn approval_is_a_choice_of_two_and_neither_is_taken() {
    let question = json!({"prompt": "May I publish it?", "need": "human_approval", "action": "publish"});
    let mut stage = Stage::waiting(question);
    let mut script = opened(&mut stage, 100, 30);
    assert!(!script.screen().contains("(•)"), "{}", script.screen());
    stage.press(&mut script, "j<space><tab>not yet<tab>approve<ctrl-s>");
    assert!(stage.decisions().is_empty());
    assert!(script.screen().contains("type deny to confirm"), "{}", script.screen());
    stage.press(
        &mut script,
        "<backspace><backspace><backspace><backspace><backspace><backspace><backspace>deny<ctrl-s>",
    );
    assert_eq!(stage.decisions()[0].input.as_ref().unwrap().approved, Some(false));
    assert_eq!(stage.world.task().state, TaskState::Ready);
}

#[test]
fn credentials_are_never_typed_and_the_link_shows_its_host() {
    let question = json!({
        "prompt": "drive.read is needed", "need": "machine_credentials", "scope": "drive.read",
        "link": "https://auth.example.org/device?code=ABCD", "expires_at": "2026-11-30T12:09:31Z",
    });
    let mut stage = Stage::waiting(question);
    let mut script = opened(&mut stage, 100, 30);
    let screen = script.screen();
    assert!(screen.contains("host: auth.example.org") && screen.contains("expires in 4:59"), "{screen}");
    assert!(!screen.contains("Answer (free text)"));
    script.keys("y");
    let link = Effect::Copy("https://auth.example.org/device?code=ABCD".into());
    assert_eq!(stage.serve(&mut script), [link]);
    script.wait(Duration::from_secs(60));
    assert!(script.screen().contains("expires in 3:5"), "{}", script.screen());
    stage.press(&mut script, "<space><tab>authorized there<tab>ready<ctrl-s>");
    assert_eq!(stage.decisions()[0].input, None);
    assert_eq!(stage.world.task().state, TaskState::Ready);
}

#[test]
fn a_schema_that_is_no_form_names_the_other_way() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "object", "properties": {"b": {"type": "string"}}}}});
    let mut stage = Stage::waiting(json!({"prompt": "Fill this in", "schema": schema}));
    let mut script = opened(&mut stage, 100, 30);
    stage.press(&mut script, "r<tab>answer<ctrl-s>");
    assert!(stage.decisions().is_empty());
    assert!(script.screen().contains("tribunal answer T --file FILE"), "{}", script.screen());
}

#[test]
fn another_question_stops_it_and_what_is_written_stays() {
    let mut stage = Stage::waiting(json!({"prompt": "Which region?"}));
    let mut script = opened(&mut stage, 100, 40);
    stage.press(&mut script, "Europe<tab>asked twice<tab>answer");
    let change = json!({"sender": "researcher-a"});
    stage.say("human_request", "M-8", "q2", json!({"prompt": "Which country?"}), change);
    script.event(news());
    stage.serve(&mut script);
    stage.press(&mut script, "answer<ctrl-s>");
    assert!(stage.decisions().is_empty());
    let screen = script.screen();
    assert!(screen.contains("the question changed while you wrote") && screen.contains("Europe"), "{screen}");
    assert!(screen.contains("Which region?") && screen.contains("Which country?"), "{screen}");
}

#[test]
fn an_expired_question_is_not_answered() {
    let mut stage = Stage::waiting(json!({"prompt": "Which region?", "expires_at": "2026-11-30T12:05:00Z"}));
    let mut script = opened(&mut stage, 100, 40);
    stage.press(&mut script, "Europe<tab>asked<tab>answer");
    script.wait(Duration::from_secs(60));
    stage.press(&mut script, "<ctrl-s>");
    assert!(stage.decisions().is_empty());
    assert!(script.screen().contains("EXPIRED at 12:05:00Z"), "{}", script.screen());
}

#[test]
fn enter_paste_and_early_keys_send_nothing_and_a_draft_is_not_dropped_by_one_esc() {
    let mut stage = Stage::waiting(json!({"prompt": "Which region?"}));
    let mut script = Script::new(super::super::case::Case::new("T".into()), 100, 40);
    script.event(live());
    stage.serve(&mut script);
    script.burst("aEurope<tab>asked<tab>answer<ctrl-s>");
    stage.serve(&mut script);
    assert!(stage.decisions().is_empty());
    script.wait(GUARD);
    stage.press(&mut script, "Europe<tab>asked<tab>");
    script.event(Event::Paste("answer".into()));
    stage.press(&mut script, "<enter><ctrl-s>");
    assert!(stage.decisions().is_empty());
    stage.press(&mut script, "<esc>");
    assert!(script.screen().contains("going back again drops it") && script.screen().contains("Answer T"));
    stage.press(&mut script, "<esc>");
    assert!(!script.screen().contains("Answer T"));
}

#[test]
fn no_size_panics_and_nothing_foreign_reaches_the_screen() {
    let mut question = form();
    question["prompt"] = json!(HOSTILE.repeat(9));
    question["scope"] = json!(HOSTILE);
    question["schema"]["properties"]["note"]["title"] = json!(HOSTILE);
    question["schema"]["properties"]["note"]["description"] = json!(HOSTILE);
    question["schema"]["properties"]["region"]["oneOf"][0]["title"] = json!(HOSTILE);
    question["schema"]["description"] = json!(HOSTILE);
    let mut stage = Stage::waiting(question);
    let mut script = opened(&mut stage, 120, 40);
    for (width, height) in [(1, 1), (0, 0), (40, 12), (41, 13), (300, 100), (2, 60), (200, 1), (80, 24)] {
        script.event(Event::Resize { width, height });
        for keys in [
            "<space>", "<tab>x", "<tab>j", "<tab>", "<tab>", "<pgdn>", "<pgup>", "<tab>", "<tab>", "<f2>",
            "<esc>",
        ] {
            stage.press(&mut script, keys);
            assert!(is_clean(&script), "{}", script.screen());
        }
    }
}

//! An answer is what the question asked for, sent once, by nothing but its own confirmation.

mod held;

use std::time::Duration;

use insta::assert_snapshot;
use serde_json::{Value, json};

use super::super::docket::Docket;
use super::super::stage::{DEPTHS, GUARD, HOSTILE, SIZES, Stage, is_clean, live, news};
use super::*;
use crate::domain::decision::{Input, Part as Piece};
use crate::domain::task::TaskState;
use crate::domain::testing::owner;
use crate::tui::effect::Effect;
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
    let sent = r#"what will be sent: count 2, draft true, region "us""#;
    assert!(script.screen().contains(sent), "{}", script.screen());
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
    // The footer's key does it from within the text, and types nothing.
    stage.press(&mut script, "<backtab><backtab>");
    assert!(script.screen().contains("f6 acknowledge"), "{}", script.screen());
    stage.press(&mut script, "<f6>");
    let screen = script.screen();
    assert!(!screen.contains("the question changed") && !screen.contains("Which region?"), "{screen}");
    stage.press(&mut script, ", France<tab><tab>answer<ctrl-s>");
    let sent = stage.decisions();
    assert_eq!(sent.len(), 1, "{}", script.screen());
    assert_eq!(
        sent[0].input.as_ref().map(|input| input.parts.clone()),
        Some(vec![Piece::Text("Europe, France".into())])
    );
    assert_eq!(
        sent[0].interruption,
        stage.world.records[0].interruption.as_ref().map(|asked| asked.id.clone())
    );
    assert_eq!(stage.world.records[0].interruption.as_ref().unwrap().prompt, "Which country?");
}

#[test]
fn an_expired_question_says_what_happened_when_and_what_is_left() {
    let mut stage = Stage::waiting(json!({"prompt": "Which region?", "expires_at": "2026-11-30T12:05:00Z"}));
    let mut script = opened(&mut stage, 80, 24);
    stage.press(&mut script, "Europe<tab>asked<tab>answer");
    script.wait(Duration::from_secs(90));
    stage.press(&mut script, "<ctrl-s>");
    assert!(stage.decisions().is_empty());
    // The lines as one, because the sentence is wrapped.
    let screen = script.screen().replace('│', " ").split_whitespace().collect::<Vec<_>>().join(" ");
    for told in [
        "EXPIRED at 12:05:00Z",
        "expired at 12:05:00Z, 1m",
        "nothing was sent",
        "Cancel the task (esc, then d)",
        "asked anew",
    ] {
        assert!(screen.contains(told), "{told}\n{screen}");
    }
}

#[test]
fn a_question_that_expired_before_offers_nothing_to_fill_in_but_the_way_to_cancel() {
    let mut stage = Stage::waiting(json!({"prompt": "Which region?", "expires_at": "2026-11-30T12:01:00Z"}));
    let mut script = opened(&mut stage, 100, 40);
    let screen = script.screen();
    assert!(screen.contains("Which region?") && screen.contains("expired at 12:01:00Z, 3m"), "{screen}");
    assert!(!screen.contains("Answer (free text)") && screen.contains("d cancel the task"), "{screen}");
    stage.press(&mut script, "d");
    script.wait(GUARD);
    stage.press(&mut script, "<space><tab>too late<tab><tab>ready<ctrl-s>");
    assert!(stage.decisions().is_empty());
    assert!(
        script.screen().contains("the question expired: the task can only be canceled"),
        "{}",
        script.screen()
    );
    stage.press(&mut script, "<backtab><backtab><backtab>j<space><tab><tab><tab>cancel<ctrl-s>");
    assert_eq!(stage.world.task().state, TaskState::Canceled, "{}", script.screen());
}

#[test]
fn where_nothing_is_asked_no_form_opens() {
    let mut stage = Stage::conflicted();
    let mut script = stage.open(super::super::case::Case::new("T".into()), 100, 40);
    stage.press(&mut script, "a");
    let screen = script.screen();
    assert!(screen.contains("no question is open: T is in review, d decides it"), "{screen}");
    assert!(!screen.contains("Answer T"), "{screen}");
}

/// A question that was answered, with the task ready again.
fn answered(question: Value, input: Input) -> Stage {
    let mut stage = Stage::waiting(question);
    let mut first = stage.world.decision(TaskState::Ready);
    first.interruption = stage.world.task().interruption.as_ref().map(|asked| asked.id.clone());
    first.input = Some(input);
    stage.world.decide_as(first, owner()).unwrap();
    stage
}

fn denied() -> Stage {
    let input = Input { approved: Some(false), ..Input::default() };
    answered(json!({"prompt": "May I publish it?", "need": "human_approval"}), input)
}

#[test]
fn an_answer_is_corrected_from_every_screen_that_shows_it() {
    use super::super::{approvals::Approvals, case::Case, timeline::Timeline};
    type Open = fn(&mut Stage) -> Script;
    let screens: [(Open, &str); 5] = [
        (|stage| stage.open(Approvals::new(None), 100, 40), "s"),
        (|stage| stage.open(Approvals::new(Some("T".into())), 100, 40), "s"),
        (|stage| stage.open(Case::new("T".into()), 100, 40), "a"),
        (|stage| stage.open(Timeline::new("T".into()), 100, 40), "a"),
        (|stage| stage.open(Docket::new(), 100, 40), "a"),
    ];
    for (open, key) in screens {
        let mut stage = denied();
        let old = stage.world.records[0].approval_id.clone();
        let mut script = open(&mut stage);
        stage.press(&mut script, key);
        // What was typed before it was seen does nothing, as with the first answer.
        script.burst("<space>");
        script.wait(GUARD);
        let screen = script.screen();
        assert!(screen.contains("Correct the answer to T") && !screen.contains("(•)"), "{screen}");
        assert!(screen.contains("corrects record 1") && screen.contains("DENIED"), "{screen}");
        stage.press(&mut script, "<space><tab>she agrees now<tab>approve<ctrl-s>");
        assert_eq!(stage.world.records.len(), 2, "{}", script.screen());
        let second = stage.decisions()[0];
        assert_eq!(second.supersedes, Some(old));
        assert_eq!(second.input.as_ref().and_then(|input| input.approved), Some(true));
        assert_eq!(second.candidate_set_digest, Some(stage.world.records[0].candidate_set_digest));
    }
}

#[test]
fn a_form_is_filled_in_anew_and_checked_like_the_first_time() {
    let value = json!({"region": "us", "count": 1});
    let schema_digest = Stage::waiting(form()).shown().task.interruption.unwrap().schema_digest;
    let input = Input { parts: vec![Piece::Data(value)], schema_digest, approved: None };
    let mut stage = answered(form(), input);
    let mut script = opened(&mut stage, 120, 50);
    assert!(script.screen().contains(r#"answered {"count":1,"region":"us"}"#), "{}", script.screen());
    stage.press(&mut script, "<tab>9<tab><tab><tab><tab>why<tab>answer<ctrl-s>");
    assert!(stage.decisions().is_empty());
    stage.drafts.clear();
    let mut script = opened(&mut stage, 120, 50);
    stage.press(&mut script, &format!("{FILLED}<ctrl-s>"));
    let expected = json!({"region": "eu", "count": 2, "draft": true});
    assert_eq!(stage.decisions()[0].input.as_ref().unwrap().parts, [Piece::Data(expected)]);
    assert_eq!(stage.world.records[1].supersedes, Some(stage.world.records[0].approval_id.clone()));
    // And once more, from the record that was just written.
    stage.press(&mut script, "s");
    script.wait(GUARD);
    assert!(script.screen().contains("corrects record 2"), "{}", script.screen());
}

#[test]
fn an_answer_is_not_corrected_once_work_went_on_or_by_whom_it_is_not_for() {
    let mut stage = denied();
    let mut script = opened(&mut stage, 100, 40);
    stage.press(&mut script, "<space><tab>she agrees now<tab>approve");
    stage.world.claim("researcher-a").unwrap();
    script.event(news());
    stage.serve(&mut script);
    stage.press(&mut script, "<ctrl-s>");
    assert!(stage.decisions().is_empty());
    assert!(script.screen().contains("work has gone on"), "{}", script.screen());
    let mut stage = denied();
    stage.may.insert("supersede", false);
    let screen = opened(&mut stage, 100, 40).screen();
    assert!(screen.contains("no question is open") && !screen.contains("Correct the answer"), "{screen}");
}

#[test]
fn a_question_that_somebody_else_answers_meanwhile_does_not_become_a_correction() {
    let mut stage = Stage::waiting(json!({"prompt": "May I publish it?", "need": "human_approval"}));
    let mut script = opened(&mut stage, 100, 40);
    stage.press(&mut script, "<space><tab>fine<tab>approve");
    let mut other = stage.world.decision(TaskState::Ready);
    other.interruption = stage.world.task().interruption.as_ref().map(|asked| asked.id.clone());
    other.input = Some(Input { approved: Some(false), ..Input::default() });
    stage.world.decide_as(other, owner()).unwrap();
    script.event(news());
    stage.serve(&mut script);
    stage.press(&mut script, "<ctrl-s>");
    assert!(stage.decisions().is_empty());
    assert!(script.screen().contains("no question is open: ready by ana"), "{}", script.screen());
    assert_eq!(stage.world.records.len(), 1);
}

#[test]
fn enter_paste_and_early_keys_send_nothing_and_a_draft_is_not_dropped_by_esc() {
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
    assert!(!script.screen().contains("Answer T"));
    stage.press(&mut script, "a");
    let screen = script.screen();
    assert!(
        screen.contains("Answer T") && screen.contains("▌ Europe") && screen.contains("asked"),
        "{screen}"
    );
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

//! What was filled in comes back into its fields, what has no place any more is shown, and nothing is sent by itself.

use insta::assert_snapshot;
use serde_json::{Value, json};

use super::super::super::case::Case;
use super::super::super::stage::{GUARD, Stage};
use super::*;
use crate::domain::decision::Input;
use crate::domain::task::TaskState;
use crate::domain::testing::owner;
use crate::tui::draft::Kind;
use crate::tui::testing::Script;

fn question(properties: &Value) -> Value {
    json!({"prompt": "Which region?", "schema": {"type": "object", "properties": properties}})
}

fn form() -> Value {
    question(&json!({
        "region": {"type": "string", "oneOf": [
            {"const": "eu", "title": "Europe"}, {"const": "us", "title": "United States"},
        ]},
        "count": {"type": "integer", "default": 1},
        "final": {"type": "boolean", "default": true},
        "parts": {"type": "array", "items": {"enum": ["summary", "tables"]}, "uniqueItems": true},
    }))
}

/// The program started anew.
fn started(stage: &mut Stage) -> Script {
    stage.open(Answer::new("T".into()), 100, 50)
}

fn kept(stage: &Stage) -> &Written {
    &stage.drafts[&("T".into(), Kind::Answer)].written
}

/// The fields of the form, filled in, with a reason and what confirms.
const FILLED: &str = "2<tab>j<space><tab>j<space><tab>j<space><tab>as the filing says<tab>answer";

#[test]
fn fields_choices_and_reason_come_back_and_what_confirms_does_not() {
    let mut stage = Stage::waiting(form());
    let mut script = started(&mut stage);
    stage.press(&mut script, FILLED);
    let fields = json!({"region": "us", "count": "12", "final": false, "parts": ["tables"]});
    assert_eq!(serde_json::to_value(&kept(&stage).fields).unwrap(), fields);
    assert_eq!(kept(&stage).reason, "as the filing says");
    assert!(!format!("{:?}", stage.drafts).contains("\"answer\""));
    let mut script = started(&mut stage);
    assert_snapshot!("restored", script.screen());
    stage.press(&mut script, "<ctrl-s><enter>");
    assert!(stage.decisions().is_empty());
    assert!(script.screen().contains("type answer to confirm"), "{}", script.screen());
    stage.press(&mut script, "<backtab>answer<ctrl-s>");
    let sent = stage.decisions()[0].input.clone().unwrap();
    let value = json!({"region": "us", "count": 12, "final": false, "parts": ["tables"]});
    assert_eq!(sent.parts, [crate::domain::decision::Part::Data(value)]);
    assert!(stage.drafts.is_empty());
}

#[test]
fn a_form_that_is_only_looked_at_leaves_no_draft() {
    let mut stage = Stage::waiting(form());
    let mut script = started(&mut stage);
    stage.press(&mut script, "<down><tab><tab><tab><tab><tab><ctrl-s><esc>");
    assert!(stage.drafts.is_empty());
}

#[test]
fn what_has_no_place_in_another_question_is_shown_and_kept() {
    let mut stage = Stage::waiting(form());
    let mut script = started(&mut stage);
    stage.press(&mut script, FILLED);
    let asked = question(&json!({"count": {"type": "integer"}, "region": {"enum": ["eu", "asia"]}}));
    stage.say("human_request", "M-8", "q2", asked, json!({"sender": "researcher-a"}));
    let mut script = started(&mut stage);
    let screen = script.screen();
    assert!(screen.contains("read again before you use it") && screen.contains("▌ 12"), "{screen}");
    for left in ["region, as it was written: us", "final, as it was written: false"] {
        assert!(screen.contains(left), "{screen}");
    }
    assert!(!screen.contains("(•)"), "{screen}");
    stage.press(&mut script, "<tab><tab> and more<esc>");
    assert_eq!(kept(&stage).reason, "as the filing says and more");
    assert_eq!(kept(&stage).fields["region"], json!("us"));
}

#[test]
fn a_question_answered_by_somebody_else_leaves_the_draft_to_be_copied() {
    let mut stage = Stage::waiting(json!({"prompt": "Which region?"}));
    let mut script = started(&mut stage);
    stage.press(&mut script, "Europe<tab>asked twice<tab>answer");
    let mut other = stage.world.decision(TaskState::Ready);
    other.interruption = stage.world.task().interruption.as_ref().map(|asked| asked.id.clone());
    let parts = vec![crate::domain::decision::Part::Text("Asia".into())];
    other.input = Some(Input { parts, ..Input::default() });
    stage.world.decide_as(other, owner()).unwrap();
    stage.world.claim("researcher-a").unwrap();
    let mut script = stage.open(Case::new("T".into()), 100, 50);
    stage.press(&mut script, "a");
    script.wait(GUARD);
    assert_snapshot!("answered_by_another", script.screen());
    script.keys("y");
    let text = "answer: Europe\nreason: asked twice\n".to_owned();
    assert_eq!(stage.serve(&mut script), [Effect::Copy(text)]);
    stage.press(&mut script, "<ctrl-s>");
    assert!(stage.decisions().is_empty());
    stage.press(&mut script, "<esc>");
    assert_eq!(kept(&stage).text, "Europe");
    stage.press(&mut script, "a");
    script.wait(GUARD);
    stage.press(&mut script, "XX<esc>a");
    assert!(stage.drafts.is_empty());
    assert!(script.screen().contains("no question is open"), "{}", script.screen());
}

#[test]
fn an_approval_comes_back_only_for_the_very_same_question() {
    let asked = |prompt: &str| json!({"prompt": prompt, "need": "human_approval"});
    let mut stage = Stage::waiting(asked("May I publish it?"));
    let mut script = started(&mut stage);
    stage.press(&mut script, "<space><tab>it is fine<tab>approve");
    assert!(started(&mut stage).screen().contains("(•) approve"));
    assert!(stage.decisions().is_empty());
    stage.say("human_request", "M-8", "q2", asked("May I delete it?"), json!({"sender": "researcher-a"}));
    let mut script = started(&mut stage);
    let screen = script.screen();
    assert!(screen.contains("it is fine") && !screen.contains("(•)"), "{screen}");
    // Taking note of what is asked now makes it a draft for that.
    stage.press(&mut script, "c");
    assert!(!script.screen().contains("read again"), "{}", script.screen());
}

#[test]
fn no_credential_is_kept_from_a_field_by_its_name() {
    let mut stage =
        Stage::waiting(question(&json!({"password": {"type": "string"}, "note": {"type": "string"}})));
    let mut script = started(&mut stage);
    stage.press(&mut script, "x<tab>hunter2hunter2");
    let (left, found) = kept(&stage).clone().without_secrets();
    assert_eq!(found.map(|(place, _)| place), Some("password".to_owned()));
    assert_eq!(left.fields.keys().collect::<Vec<_>>(), ["note"]);
}

//! What was written about a decision comes back, says what it was made against, and never decides.

use insta::assert_snapshot;
use serde_json::json;

use super::super::super::case::Case;
use super::super::super::docket::Docket;
use super::super::super::stage::{GUARD, HOSTILE, Stage, facts, is_clean};
use super::super::columns;
use super::*;
use crate::domain::testing::owner;
use crate::tui::draft::Kind;
use crate::tui::effect::{Ask, Effect};
use crate::tui::event::{Event, Found, Reply};
use crate::tui::testing::Script;

/// The program started anew: the case, and the decision over it.
fn started(stage: &mut Stage, width: u16, height: u16) -> Script {
    let mut script = stage.open(Case::new("T".into()), width, height);
    stage.press(&mut script, "d");
    script.wait(GUARD);
    stage.serve(&mut script);
    script
}

fn digest(stage: &Stage) -> String {
    columns::sets(&stage.shown())[0].columns[1].digest.short()
}

fn kept(stage: &Stage) -> &Written {
    &stage.drafts[&("T".into(), Kind::Decision)].written
}

/// B upheld for a reason, up to what confirms, and then the program is gone.
fn written(stage: &mut Stage) {
    let mut script = started(stage, 120, 40);
    let keys = format!("jjj<space><tab>the filing says so<tab>step-3<tab>{}", digest(stage));
    stage.press(&mut script, &keys);
}

#[test]
fn everything_but_what_confirms_is_there_again_and_nothing_is_sent() {
    let mut stage = Stage::conflicted();
    written(&mut stage);
    let expected = Written {
        reason: "the filing says so".into(),
        resume: "step-3".into(),
        choice: Some("ready".into()),
        upheld: vec![5],
        ..Written::default()
    };
    assert_eq!(kept(&stage), &expected);
    let digest = digest(&stage);
    for (name, width, height) in [("restored_120x40", 120, 40), ("restored_80x24", 80, 24)] {
        let mut script = started(&mut stage, width, height);
        assert_snapshot!(name, script.screen());
        stage.press(&mut script, "<ctrl-s><enter><ctrl-s>");
        assert!(stage.decisions().is_empty());
        assert!(script.screen().contains(&format!("type {digest} to confirm")), "{}", script.screen());
    }
    // Confirmed anew it is sent as it was written, and no draft is left.
    let mut script = started(&mut stage, 120, 40);
    stage.press(&mut script, &format!("<tab><tab><tab><tab>{digest}<ctrl-s>"));
    let sent = stage.decisions();
    assert_eq!((sent[0].reason.as_str(), sent[0].upheld.as_slice()), ("the filing says so", &[5][..]));
    assert!(stage.drafts.is_empty());
}

#[test]
fn a_draft_of_another_version_is_marked_its_choice_does_not_come_back_and_it_stays_marked() {
    let mut stage = Stage::conflicted();
    written(&mut stage);
    let before = stage.world.task().state_version;
    stage.result("M-9", "researcher-c", "2026-11-30T12:00:00Z", facts(1, "hearsay"), json!([]));
    let now = stage.world.task().state_version;
    let mut script = started(&mut stage, 120, 40);
    let marked = if now == before {
        format!("made against v{before}, what is to be judged changed: read again before you use it")
    } else {
        format!("made against v{before}, the task is at v{now}: read again before you use it")
    };
    let screen = script.screen();
    assert!(screen.contains("draft of 12:0") && screen.contains(&marked), "{screen}");
    assert!(screen.contains("the filing says so") && screen.contains("step-3"), "{screen}");
    assert!(!screen.contains("[x]") && !screen.contains("(•)"), "{screen}");
    // Written on and left, it is still of then.
    stage.press(&mut script, "<tab><tab>!<esc>");
    assert_eq!(kept(&stage).reason, "the filing says so!");
    assert!(started(&mut stage, 120, 40).screen().contains(&marked));
}

#[test]
fn closing_keeps_it_and_only_the_same_key_twice_throws_it_away() {
    let mut stage = Stage::conflicted();
    written(&mut stage);
    let mut script = started(&mut stage, 120, 40);
    stage.press(&mut script, "X");
    assert!(script.screen().contains("the same key again throws away"), "{}", script.screen());
    // Anything else in between, and it is asked again.
    stage.press(&mut script, "jX");
    assert_eq!(kept(&stage).reason, "the filing says so");
    stage.press(&mut script, "<esc>d");
    script.wait(GUARD);
    assert!(script.screen().contains("the filing says so"));
    stage.press(&mut script, "<tab><tab><f8><f8>");
    let screen = script.screen();
    assert!(stage.drafts.is_empty() && screen.contains("the draft is thrown away"), "{screen}");
    assert!(
        !screen.contains("the filing") && !screen.contains("draft of") && !screen.contains("[x]"),
        "{screen}"
    );
    let screen = started(&mut stage, 120, 40).screen();
    assert!(!screen.contains("the filing") && !screen.contains("draft of"), "{screen}");
}

#[test]
fn deleted_by_hand_it_is_gone_too() {
    let mut stage = Stage::conflicted();
    let mut script = started(&mut stage, 120, 40);
    stage.press(&mut script, "<tab><tab>no");
    assert_eq!(kept(&stage).reason, "no");
    stage.press(&mut script, "<backspace><backspace>");
    assert!(stage.drafts.is_empty());
}

#[test]
fn what_somebody_else_decided_meanwhile_is_said_and_the_draft_is_there_to_be_copied() {
    let mut stage = Stage::conflicted();
    written(&mut stage);
    let other = stage.world.decision(TaskState::Ready);
    stage.world.decide_as(other, owner()).unwrap();
    stage.world.claim("researcher-a").unwrap();
    for first in [true, false] {
        let mut script = if first {
            stage.open(Docket::new(), 120, 40)
        } else {
            stage.open(Case::new("T".into()), 120, 40)
        };
        stage.press(&mut script, "d");
        script.wait(GUARD);
        let screen = script.screen();
        assert!(screen.contains("the task does not wait") || screen.contains("already decided"), "{screen}");
        assert!(screen.contains("the filing says so") && screen.contains("read again"), "{screen}");
        script.keys("y");
        assert_eq!(stage.serve(&mut script), [Effect::Copy("the filing says so".into())]);
        stage.press(&mut script, "<esc>");
        assert_eq!(kept(&stage).reason, "the filing says so");
    }
    // Thrown away, there is nothing to open any more.
    let mut script = stage.open(Docket::new(), 120, 40);
    stage.press(&mut script, "d");
    script.wait(GUARD);
    stage.press(&mut script, "XX<esc>d");
    assert!(script.screen().contains("nothing to decide"), "{}", script.screen());
}

#[test]
fn what_is_typed_before_the_draft_is_known_is_put_behind_it_and_written_over_nothing() {
    let mut stage = Stage::conflicted();
    written(&mut stage);
    let mut script = stage.open(Case::new("T".into()), 120, 40);
    script.keys("d");
    let withheld = stage.serve_but(&mut script, |ask| matches!(ask, Ask::Draft(..)));
    let [Effect::Ask(request, _)] = withheld[..] else { panic!("{withheld:?}") };
    script.wait(GUARD);
    script.keys("<tab><tab>more");
    assert_eq!(stage.serve(&mut script), []);
    assert_eq!(kept(&stage).reason, "the filing says so");
    let draft = stage.drafts.values().next().cloned().map(Box::new);
    script.event(Event::Reply { request, reply: Reply::Draft(Found { draft, problem: None }) });
    stage.serve(&mut script);
    assert_eq!(kept(&stage).reason, "the filing says so\nmore");
}

#[test]
fn what_cannot_be_read_is_told_and_the_dialog_goes_on_without_it() {
    let mut stage = Stage::conflicted();
    let mut script = stage.open(Case::new("T".into()), 120, 40);
    script.keys("d");
    let withheld = stage.serve_but(&mut script, |ask| matches!(ask, Ask::Draft(..)));
    let [Effect::Ask(request, _)] = withheld[..] else { panic!("{withheld:?}") };
    let problem = Some("/drafts/1.json: it is damaged".to_owned());
    script.event(Event::Reply { request, reply: Reply::Draft(Found { draft: None, problem }) });
    assert!(script.screen().contains("a draft is left where it is: /drafts/1.json: it is damaged"));
    script.wait(GUARD);
    stage.press(&mut script, "<tab><tab>anew");
    assert_eq!(kept(&stage).reason, "anew");
}

#[test]
fn a_credential_is_written_over_at_once_and_leaving_is_at_once() {
    let mut stage = Stage::conflicted();
    let mut script = started(&mut stage, 120, 40);
    let now = |script: &mut Script, keys: &str| -> Vec<bool> {
        script.keys(keys);
        let effects = script.effects();
        effects
            .iter()
            .filter_map(|e| if let Effect::Keep { now, .. } = e { Some(*now) } else { None })
            .collect()
    };
    assert_eq!(now(&mut script, "<tab><tab>password: h"), vec![false; 11]);
    let secret = now(&mut script, "unter2hunter2");
    assert_eq!(secret.iter().filter(|now| **now).count(), 1, "{secret:?}");
    assert_eq!(now(&mut script, "<esc>"), [true]);
}

#[test]
fn nothing_in_a_draft_can_drive_the_terminal() {
    let mut stage = Stage::conflicted();
    written(&mut stage);
    let draft = stage.drafts.values_mut().next().unwrap();
    (draft.written.reason, draft.written.resume) = (HOSTILE.repeat(9), HOSTILE.into());
    draft.written.fields.insert(HOSTILE.into(), json!(HOSTILE));
    draft.basis.question = Some(HOSTILE.into());
    let script = started(&mut stage, 120, 40);
    assert!(is_clean(&script), "{}", script.screen());
}

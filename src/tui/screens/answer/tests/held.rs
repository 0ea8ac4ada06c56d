//! Outcomes held beside a question are read, upheld or set aside with its answer (contract section 6).

use super::*;
use crate::tui::screens::case::Case;

/// A question, and a result that is held beside it as #3.
fn held(question: Value) -> Stage {
    let mut stage = Stage::waiting(question);
    stage.result("M-9", "researcher-b", "2026-11-30T12:00:00Z", json!({"source": "hearsay"}), json!([]));
    assert_eq!(stage.world.task().held, [3]);
    stage
}

fn short(stage: &Stage) -> String {
    columns::sets(&stage.shown())[0].columns[0].digest.short()
}

/// Opens what is held and comes back.
fn read(stage: &mut Stage, script: &mut Script) {
    stage.press(script, "<enter>");
    assert!(script.screen().contains("hearsay"), "{}", script.screen());
    stage.press(script, "<esc>");
    script.wait(GUARD);
}

#[test]
fn it_is_upheld_after_it_was_read_and_sent_with_the_answer() {
    let mut stage = held(json!({"prompt": "Which region?"}));
    let mut script = opened(&mut stage, 110, 40);
    stage.press(&mut script, "Europe<tab>");
    assert_snapshot!("held", script.screen());
    stage.press(&mut script, "<space>");
    let screen = script.screen();
    assert!(screen.contains("#3 cannot be upheld: its content was not on your screen"), "{screen}");
    assert!(screen.contains("▌[ ] A") && screen.contains("(0 upheld)"), "{screen}");
    read(&mut stage, &mut script);
    stage.press(&mut script, "<space>");
    let screen = script.screen();
    assert!(screen.contains("▌[x] A") && screen.contains("(1 upheld)"), "{screen}");
    // The word alone no longer confirms.
    stage.press(&mut script, "<tab>it says so<tab>answer<ctrl-s>");
    assert!(stage.decisions().is_empty(), "{}", script.screen());
    let digest = short(&stage);
    assert!(script.screen().contains(&format!("type answer {digest}, then send")), "{}", script.screen());
    stage.press(&mut script, &format!(" {digest}<ctrl-s>"));
    let sent = stage.decisions();
    assert_eq!((sent.len(), sent[0].upheld.as_slice()), (1, &[3][..]), "{}", script.screen());
    let record = &stage.world.records[0];
    let judged: Vec<u64> = record.held.iter().map(|side| side.arrival).collect();
    assert_eq!((record.upheld.as_slice(), judged.as_slice()), (&[3][..], &[3][..]));
    // What stands is applied when the task runs again.
    stage.world.claim("researcher-a").unwrap();
    assert_eq!(stage.world.task().state, TaskState::Succeeded);
}

#[test]
fn what_is_not_upheld_is_set_aside() {
    let mut stage = held(json!({"prompt": "Which region?"}));
    let mut script = opened(&mut stage, 110, 40);
    stage.press(&mut script, "Europe<tab>");
    read(&mut stage, &mut script);
    // Taken, and left again.
    stage.press(&mut script, "<space><space><tab>it says so<tab>answer<ctrl-s>");
    let sent = stage.decisions();
    assert_eq!((sent.len(), sent[0].upheld.len()), (1, 0), "{}", script.screen());
    stage.world.claim("researcher-a").unwrap();
    assert_eq!(stage.world.task().state, TaskState::Running);
}

#[test]
fn what_was_read_in_the_case_can_be_upheld_at_once_but_not_by_its_author() {
    for own in [false, true] {
        let mut stage = held(json!({"prompt": "Publish?", "need": "human_approval"}));
        stage.own = if own { vec![3] } else { Vec::new() };
        let mut script = stage.open(Case::new("T".into()), 110, 40);
        stage.press(&mut script, "G<enter>");
        assert!(script.screen().contains("hearsay"), "{}", script.screen());
        stage.press(&mut script, "<esc>a");
        script.wait(GUARD);
        stage.press(&mut script, "<space><tab><space>");
        let screen = script.screen();
        assert_eq!(screen.contains("[x] A"), !own, "{screen}");
        assert_eq!(screen.contains("you wrote #3 and may not judge it"), own, "{screen}");
        assert_eq!(screen.contains("type approve, then send"), own, "{screen}");
    }
}

#[test]
fn a_task_that_ends_resumes_nothing() {
    let mut stage = held(json!({"prompt": "Sign in.", "need": "machine_credentials"}));
    let mut script = opened(&mut stage, 110, 40);
    stage.press(&mut script, "<space><tab>");
    read(&mut stage, &mut script);
    stage.press(&mut script, "<space>");
    assert!(script.screen().contains("[x] A"), "{}", script.screen());
    stage.press(&mut script, "<backtab>j<space>");
    let screen = script.screen();
    assert!(screen.contains("(•) cancel") && screen.contains("[ ] A"), "{screen}");
    stage.press(&mut script, "<tab><space>");
    let screen = script.screen();
    assert!(screen.contains("a canceled task resumes nothing") && screen.contains("[ ] A"), "{screen}");
}

#[test]
fn another_that_arrives_meanwhile_is_acknowledged_and_takes_no_key_from_what_is_typed() {
    let mut stage = held(json!({"prompt": "Which region?"}));
    let mut script = opened(&mut stage, 110, 50);
    stage.press(&mut script, "Europe<tab>");
    read(&mut stage, &mut script);
    stage.press(&mut script, "<space><tab>it says");
    let change = json!({"sender": "researcher-c", "lease_version": 1});
    stage.say("task_result", "M-10", "other", json!({"n": 1}), change);
    script.event(news());
    stage.serve(&mut script);
    let screen = script.screen();
    assert!(
        screen.contains("the task changed while you wrote") && screen.contains("1 held outcome is"),
        "{screen}"
    );
    stage.press(&mut script, "<f6> so");
    let screen = script.screen();
    assert!(
        screen.contains("2 held outcomes are judged with this") && screen.contains("it says so"),
        "{screen}"
    );
    assert!(screen.contains("(1 upheld)"), "{screen}");
    let digest = short(&stage);
    stage.press(&mut script, &format!("<tab>answer {digest}<ctrl-s>"));
    let sent = stage.decisions();
    assert_eq!((sent.len(), sent[0].upheld.as_slice()), (1, &[3][..]), "{}", script.screen());
}

#[test]
fn what_stood_comes_back_with_the_draft_but_is_read_again() {
    let mut stage = held(json!({"prompt": "Which region?"}));
    let mut script = opened(&mut stage, 110, 40);
    stage.press(&mut script, "Europe<tab>");
    read(&mut stage, &mut script);
    stage.press(&mut script, "<space><tab>it says so<esc>");
    let mut script = opened(&mut stage, 110, 40);
    let digest = short(&stage);
    stage.press(&mut script, &format!("<tab><tab><tab>answer {digest}<ctrl-s>"));
    let screen = script.screen();
    assert!(
        screen.contains("[x] A") && screen.contains("off: A cannot be upheld: its content was not on"),
        "{screen}"
    );
    assert!(stage.decisions().is_empty());
    stage.press(&mut script, "<backtab><backtab>");
    read(&mut stage, &mut script);
    stage.press(&mut script, "<ctrl-s>");
    assert_eq!(stage.decisions().len(), 1, "{}", script.screen());
}

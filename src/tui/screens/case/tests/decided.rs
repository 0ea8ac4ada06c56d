//! A case that was decided still shows what was judged: which side stands, by whom, when, why, in which record.

use super::*;
use crate::domain::task::TaskState;
use crate::tui::effect::Ask;

fn decided(to: TaskState, upheld: &[u64]) -> Stage {
    let mut stage = Stage::conflicted();
    let mut decision = stage.world.decision(to);
    decision.upheld = upheld.to_vec();
    decision.reason = "the filing, not the press release".into();
    stage.world.decide(decision).unwrap();
    stage
}

/// What every decided case says, whatever became of the task since.
fn says_everything(screen: &str) {
    for told in [
        "decided in record 1: ready, upheld B #5, not A #2, by ana, 12:00:00Z (A-1)",
        "reason: the filing, not the press release",
        " A  not upheld · task_result · 3 deliveries · untrusted",
        " B  ✓ upheld · task_result · 1 delivery · untrusted",
        "researcher-a",
        "claimed 11:59:58Z",
        "researcher-b",
        "10-K p. 31",
        "press release",
        "✓ verified",
    ] {
        assert!(screen.contains(told), "{told}\n{screen}");
    }
}

#[test]
fn both_sides_stay_in_sight_with_what_became_of_them() {
    for (name, width, height) in [("decided_120x40", 120, 40), ("decided_80x24", 80, 24)] {
        let mut stage = decided(TaskState::Ready, &[5]);
        let screen = opened(&mut stage, width, height).screen();
        says_everything(&screen);
        assert!(!screen.contains("ARRIVED"), "{screen}");
        assert_snapshot!(name, screen);
    }
}

#[test]
fn they_do_so_also_when_nothing_can_be_superseded_any_more() {
    let mut stage = decided(TaskState::Ready, &[5]);
    stage.world.claim("researcher-a").unwrap();
    assert!(stage.world.task().judged.is_none());
    let mut script = opened(&mut stage, 120, 40);
    says_everything(&script.screen());
    // The task as it is now is one key further than the last view, and back.
    press(&mut stage, &mut script, "vvv");
    let screen = script.screen();
    assert!(screen.contains("running since") && screen.contains("researcher-a"), "{screen}");
    assert!(screen.contains("last decision: ready by") && screen.contains("upheld #5"), "{screen}");
    press(&mut stage, &mut script, "v");
    says_everything(&script.screen());
    press(&mut stage, &mut script, "d");
    assert!(!script.screen().contains("Decide T"), "{}", script.screen());
}

#[test]
fn a_correction_says_so_and_marks_what_stands_now() {
    let mut stage = decided(TaskState::Ready, &[2]);
    let mut script = opened(&mut stage, 80, 24);
    assert!(script.screen().contains("upheld A #2, not B #5"), "{}", script.screen());
    let mut decision = stage.world.decision(TaskState::Ready);
    decision.upheld = vec![5];
    decision.supersedes = Some("A-1".into());
    decision.approval_id = "A-2".into();
    decision.reason = "misread".into();
    stage.world.decide(decision).unwrap();
    script.event(news());
    stage.serve(&mut script);
    let screen = script.screen();
    assert!(screen.contains("corrected in record 2: ready, upheld B #5, not A #2"), "{screen}");
    assert!(screen.contains(" B  ✓ upheld ·") && screen.contains("reason: misread"), "{screen}");
}

#[test]
fn why_it_waits_now_goes_before_what_was_decided_then() {
    let mut stage = decided(TaskState::Ready, &[5]);
    stage.world.claim("researcher-a").unwrap();
    stage.stuck = Some(Stuck::LeaseExpired);
    let mut script = opened(&mut stage, 80, 24);
    let screen = script.screen();
    assert!(screen.contains("safe to do:") && screen.contains("v judged sides"), "{screen}");
    assert!(screen.contains("at 12:00:00Z"), "{screen}");
    press(&mut stage, &mut script, "v");
    says_everything(&script.screen());
}

#[test]
fn a_cancelled_task_has_no_side_that_stands() {
    let mut stage = decided(TaskState::Canceled, &[]);
    let screen = opened(&mut stage, 120, 40).screen();
    assert!(screen.contains("decided in record 1: canceled, no side upheld, by ana"), "{screen}");
    assert_eq!(screen.matches("not upheld ·").count(), 2, "{screen}");
}

#[test]
fn a_decision_made_while_one_reads_marks_the_sides_that_are_on_the_screen() {
    let mut stage = Stage::conflicted();
    let mut script = opened(&mut stage, 120, 40);
    assert!(!script.screen().contains("upheld"), "{}", script.screen());
    stage.world = decided(TaskState::Ready, &[5]).world;
    script.event(news());
    stage.serve(&mut script);
    says_everything(&script.screen());
    // A new contradiction is judged anew: nothing is marked any more, nothing is chosen.
    stage.world.claim("researcher-a").unwrap();
    stage.say(
        "task_result",
        "M-7",
        "R-7:T:attempt-1",
        facts(2, "third"),
        json!({"sender": "researcher-c", "lease_version": 2}),
    );
    script.event(news());
    stage.serve(&mut script);
    let screen = script.screen();
    assert!(screen.contains("needs review") && !screen.contains("✓ upheld"), "{screen}");
}

#[test]
fn what_cannot_be_read_is_said_and_the_rest_is_shown() {
    let mut stage = decided(TaskState::Ready, &[5]);
    stage.world.claim("researcher-a").unwrap();
    let mut script = Script::new(Case::new("T".into()), 120, 40);
    script.event(live());
    let asked = stage.serve_but(&mut script, |ask| matches!(ask, Ask::Approvals(..)));
    let [Effect::Ask(request, _)] = asked.as_slice() else { panic!("{asked:?}") };
    let reply = crate::tui::event::Reply::Failed("the way there was lost".into());
    script.event(Event::Reply { request: *request, reply });
    stage.serve(&mut script);
    let screen = script.screen();
    assert!(screen.contains("could not be read whole: the way there was lost"), "{screen}");
    assert!(screen.contains("✓ upheld") && screen.contains("decided in record 1"), "{screen}");
    press(&mut stage, &mut script, "r");
    says_everything(&script.screen());
}

#[test]
fn nothing_that_was_written_into_a_decision_reaches_the_screen_as_it_is_at_any_size() {
    let mut stage = Stage::conflicted();
    let mut decision = stage.world.decision(TaskState::Ready);
    decision.upheld = vec![5];
    decision.reason = format!("because {HOSTILE} of it");
    stage.world.decide(decision).unwrap();
    stage.world.claim("researcher-a").unwrap();
    for (width, height) in [(120, 40), (80, 24), (40, 12), (20, 5), (1, 1)] {
        let mut script = opened(&mut stage, width, height);
        for keys in ["", "v", "n", "v", "v", "e", "<esc>", "v", "]", "s"] {
            press(&mut stage, &mut script, keys);
            assert!(is_clean(&script), "{keys} {width}\n{}", script.screen());
        }
    }
}

//! Comparing takes as long as it takes: it is told, it is stopped, and nothing else waits behind it.

use super::*;
use crate::tui::effect::Ask;

fn compares(ask: &Ask) -> bool {
    matches!(ask, Ask::Compare(..))
}

/// Three sides whose comparison is asked for and not answered; the number of that request.
fn waiting(stage: &mut Stage, width: u16, height: u16) -> (Script, u64) {
    stage.result("M-9", "researcher-c", "2026-11-30T12:00:00Z", facts(1, "hearsay"), json!([]));
    let mut script = Script::new(Case::new("T".into()), width, height);
    script.event(live());
    let asked = stage.serve_but(&mut script, compares);
    let request = match asked.as_slice() {
        [Effect::Ask(request, ask)] if compares(ask) => *request,
        other => panic!("{other:?}"),
    };
    (script, request)
}

#[test]
fn every_side_is_verified_while_the_pair_is_compared() {
    let mut stage = Stage::conflicted();
    let (mut script, _) = waiting(&mut stage, 120, 70);
    let screen = script.screen();
    assert!(screen.contains("comparing"), "{screen}");
    assert_eq!(screen.matches("✓ verified").count(), 2, "{screen}");
    // The third is verified too, though nobody looks at it; each content was read once.
    press_but(&mut stage, &mut script, "e");
    assert_eq!(script.screen().matches("✓ verified").count(), 3, "{}", script.screen());
    let read = stage.log.iter().filter(|ask| matches!(ask, Ask::Payload(..))).count();
    assert_eq!(read, 3);
}

fn press_but(stage: &mut Stage, script: &mut Script, keys: &str) -> Vec<Effect> {
    script.keys(keys);
    stage.serve_but(script, compares)
}

#[test]
fn a_long_comparison_says_how_long_and_going_back_cancels_it() {
    for (width, height) in [(80, 24), (120, 40)] {
        let mut stage = Stage::conflicted();
        let (mut script, request) = waiting(&mut stage, width, height);
        script.wait(Duration::from_millis(2100));
        assert!(script.screen().contains("2s  back cancels it"), "{}", script.screen());
        assert_eq!(press_but(&mut stage, &mut script, "<esc>"), [Effect::Cancel(request)]);
        let screen = script.screen();
        assert!(screen.contains("the comparison was cancelled"), "{screen}");
        // What comes too late is not shown, and nothing is asked again by itself.
        script.event(Event::Reply { request, reply: crate::tui::event::Reply::Compare(Err("late".into())) });
        script.wait(Duration::from_secs(9));
        assert!(!script.screen().contains("late"), "{}", script.screen());
        assert_eq!(press_but(&mut stage, &mut script, "j"), []);
        // It can be wished for again, from what was read already.
        let read = |stage: &Stage| stage.log.iter().filter(|ask| matches!(ask, Ask::Payload(..))).count();
        let before = read(&stage);
        script.keys("r");
        stage.serve(&mut script);
        assert!(script.screen().contains("difference 1 of 4"), "{}", script.screen());
        assert_eq!(read(&stage), before);
    }
}

#[test]
fn what_was_not_compared_cannot_be_upheld_unread() {
    let mut stage = Stage::conflicted();
    let (mut script, _) = waiting(&mut stage, 80, 24);
    script.wait(Duration::from_secs(1));
    press_but(&mut stage, &mut script, "<esc>d");
    script.wait(Duration::from_millis(300));
    press_but(&mut stage, &mut script, "jj<space>");
    assert!(script.screen().contains("not on your screen"), "{}", script.screen());
}

#[test]
fn another_pair_takes_the_place_of_the_one_that_is_compared() {
    let mut stage = Stage::conflicted();
    let (mut script, request) = waiting(&mut stage, 120, 40);
    let asked = press_but(&mut stage, &mut script, "]");
    assert_eq!(asked[0], Effect::Cancel(request));
    assert!(matches!(&asked[1], Effect::Ask(_, ask) if compares(ask)), "{asked:?}");
    assert_eq!(asked.len(), 2);
}

#[test]
fn reading_a_whole_text_is_stopped_the_same_way() {
    let mut stage = Stage::conflicted();
    let mut script = opened(&mut stage, 80, 24);
    script.keys("v");
    let asked = stage.serve_but(&mut script, |ask| matches!(ask, Ask::Text(..)));
    assert_eq!(asked.len(), 2);
    script.wait(Duration::from_secs(3));
    assert!(script.screen().contains("3s  back cancels it"), "{}", script.screen());
    let stopped = stage_cancels(&mut stage, &mut script);
    assert_eq!(stopped, 2);
    assert!(script.screen().contains("difference 1 of 4"), "{}", script.screen());
}

fn stage_cancels(stage: &mut Stage, script: &mut Script) -> usize {
    script.keys("<esc>");
    stage.serve(script).iter().filter(|effect| matches!(effect, Effect::Cancel(_))).count()
}

#[test]
fn a_text_that_cannot_be_read_says_why_and_is_asked_for_again_only_when_somebody_says_so() {
    use crate::domain::refusal::Refusal;
    use crate::tui::event::Reply;
    let refused = || Reply::Refused(Box::new(Refusal::Unavailable { why: "the disk is\u{202e}full".into() }));
    let failed = || Reply::Failed("the way there was lost".into());
    type Unread = (fn() -> Reply, &'static str);
    let cases: [Unread; 2] = [(refused, "the disk is<U+202E>full"), (failed, "the way there was lost")];
    for (reply, why) in cases {
        let mut stage = Stage::conflicted();
        let mut script = stage.open(Case::new("T".into()), 120, 40);
        script.keys("v");
        let is_text = |ask: &Ask| matches!(ask, Ask::Text(..));
        let asked = stage.serve_but(&mut script, is_text);
        assert_eq!(asked.len(), 2, "{asked:?}");
        for effect in asked {
            let Effect::Ask(request, _) = effect else { panic!("{effect:?}") };
            script.event(Event::Reply { request, reply: reply() });
        }
        assert_eq!(stage.serve_but(&mut script, is_text), [], "nothing is asked again by itself");
        let screen = script.screen();
        assert!(screen.matches(why).count() >= 2, "{screen}");
        assert!(!screen.contains("reading"), "{screen}");
        stage.press(&mut script, "r");
        assert!(script.screen().contains("\"currency\": \"EUR\""), "{}", script.screen());
    }
}

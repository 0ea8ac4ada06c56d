//! The choice of columns: what it shows and hides at once, and what it asks to be kept.

use super::*;
use crate::tui::model::chosen::Chosen;

fn titles(script: &Script) -> Vec<String> {
    let screen = script.screen();
    screen.lines().nth(2).unwrap_or_default().split_whitespace().map(str::to_owned).collect()
}

#[test]
fn what_is_left_out_gives_its_room_at_once_and_is_kept() {
    let mut script = Script::new(Docket::new(), 119, 40);
    by_scope(&mut script, |_| vec![row(1000)]);
    script.keys("c");
    assert!(script.screen().contains("▌[x] why       why it waits"), "{}", script.screen());
    script.keys("<space>jj<enter>");
    let screen = script.screen();
    assert!(
        screen.contains("[ ] why") && screen.contains("▌[ ] age") && screen.contains("[x] asks"),
        "{screen}"
    );
    let mut chosen = Chosen::default();
    chosen.toggle(0);
    let first = Effect::KeepColumns(chosen);
    chosen.toggle(2);
    assert_eq!(script.effects(), [first, Effect::KeepColumns(chosen)]);
    script.keys("<esc>");
    assert_eq!(titles(&script), ["task", "asks", "deadline", "prio", "trace", "worker"]);
    // Back to all, the last column too.
    script.keys("c<space>G<space><esc>");
    assert_eq!(titles(&script), ["why", "task", "asks", "deadline", "prio", "trace"]);
}

#[test]
fn everything_may_be_left_out_but_the_task_and_no_size_breaks() {
    for (width, height) in [(119, 40), (80, 24), (40, 12), (40, 5), (1, 1)] {
        let mut script = Script::new(Docket::new(), width, height);
        by_scope(&mut script, |_| vec![row(1000)]);
        script.keys("c<space>j<space>j<space>j<space>j<space>j<space>j<space>");
        if height >= 12 {
            assert!(script.screen().contains("▌[ ] worker"), "{}", script.screen());
            script.keys("<esc>");
            assert_eq!(titles(&script)[0], "task", "{}", script.screen());
            assert!(script.screen().contains("▌T-1000"), "{}", script.screen());
        }
    }
}

#[test]
fn sizes_of_the_choice() {
    for (name, width, height) in SIZES {
        let mut world = World::of(30);
        let mut script = script(&mut world, width, height);
        world.keys(&mut script, "cj<space>");
        assert_snapshot!(name, script.screen());
    }
}

//! The filter of the ledger: it goes with every question, and what is not read yet is not taken for none.

use super::*;
use crate::domain::task::TaskState;

/// A record by who decided, when, and how.
fn made(sequence: u64) -> Approval {
    let mut one = approval(sequence);
    let record = &mut one.record;
    if sequence == 7 {
        record.principal.subject = "bob".into();
        record.decision = TaskState::Canceled;
    }
    one
}

/// Answers everything; returns how many pages were asked for.
fn answer(script: &mut Script, head: u64) -> usize {
    let mut asked = 0;
    serve(script, |ask| {
        Some(match ask {
            Ask::Status => Reply::Status(Box::new(status(head))),
            Ask::Approvals(request) => {
                asked += 1;
                assert!(asked <= 40, "{request:?}");
                Reply::Approvals(ledger(head, made, &request))
            }
            other => panic!("{other:?}"),
        })
    });
    asked
}

/// The numbers that are listed.
fn listed(script: &Script) -> Vec<u64> {
    let screen = script.screen();
    let numbers = screen.lines().filter_map(|line| {
        let mut words = line.trim_start_matches(['▌', ' ']).split_whitespace();
        let number = words.next()?.parse().ok()?;
        words.next()?.starts_with("T-").then_some(number)
    });
    numbers.collect()
}

fn filtered(filter: &str) -> Script {
    let mut script = Script::new(Approvals::new(None), 100, 24);
    answer(&mut script, 5000);
    script.keys(&format!("/{filter}"));
    answer(&mut script, 5000);
    script.keys("<enter>");
    answer(&mut script, 5000);
    script
}

#[test]
fn a_record_is_found_wherever_it_stands_and_all_that_is_read_is_said() {
    for (filter, numbers) in [("agent:bob", vec![7]), ("A-4321", vec![4321]), ("agent:no", vec![])] {
        let script = filtered(filter);
        let screen = script.screen();
        assert_eq!(listed(&script), numbers, "{filter}\n{screen}");
        assert!(screen.contains(&format!("{} found · esc clears it", numbers.len())), "{filter}\n{screen}");
        assert_eq!(screen.contains("no record fits the filter"), numbers.is_empty(), "{screen}");
    }
}

#[test]
fn while_it_is_read_on_nothing_is_called_all() {
    let mut script = Script::new(Approvals::new(None), 100, 24);
    answer(&mut script, 5000);
    script.keys("/agent:bob<enter>");
    // Of the last question two pages are answered.
    serve(&mut script, |ask| {
        let Ask::Approvals(request) = ask else { panic!("{ask:?}") };
        let near = !matches!(request.from, LedgerPlace::Before(number) if number < 4001);
        near.then(|| Reply::Approvals(ledger(5000, made, &request)))
    });
    script.wait(Duration::from_secs(3));
    let screen = script.screen();
    assert!(screen.contains("0+ found, reading on from no. 3000"), "{screen}");
    assert!(!screen.contains("no record fits"), "{screen}");
}

#[test]
fn many_fit_and_the_last_is_one_key_away() {
    let mut script = filtered("mine");
    assert_eq!(listed(&script)[..3], [5000, 4999, 4998]);
    assert!(script.screen().contains("200+ found"), "{}", script.screen());
    script.keys("G");
    answer(&mut script, 5000);
    let last = listed(&script);
    assert_eq!((last.last(), last.contains(&7)), (Some(&1), false), "{}", script.screen());
    script.keys("<esc>");
    answer(&mut script, 5000);
    assert_eq!(listed(&script)[0], 5000);
    assert!(!script.screen().contains("found"), "{}", script.screen());
}

#[test]
fn a_new_record_that_fits_comes_first_and_moves_no_selection() {
    let mut script = filtered("agent:bob");
    assert!(script.screen().contains("▌"), "{}", script.screen());
    script.event(Event::Feed(Change::News(vec![Some("T-7".into())])));
    serve(&mut script, |ask| {
        Some(match ask {
            Ask::Status => Reply::Status(Box::new(status(5002))),
            Ask::Approvals(request) => {
                let made = |number| {
                    let mut one = made(number);
                    if number == 5001 {
                        one.record.principal.subject = "bob".into();
                    }
                    one
                };
                Reply::Approvals(ledger(5002, made, &request))
            }
            other => panic!("{other:?}"),
        })
    });
    let screen = script.screen();
    assert_eq!(listed(&script), [7], "{screen}");
    let selected = screen.lines().find(|line| line.starts_with('▌')).unwrap_or_default();
    assert!(selected.contains(" 7 ") && screen.contains("2 found") && screen.contains("1 new ↑"), "{screen}");
    script.keys("u");
    assert_eq!(listed(&script), [5001, 7], "{}", script.screen());
}

#[test]
fn what_no_record_has_is_said_under_the_caret_and_of_one_task_all_is_asked() {
    let mut script = Script::new(Approvals::new(None), 100, 24);
    answer(&mut script, 3);
    script.keys("/reason:stuck");
    answer(&mut script, 3);
    let screen = script.screen();
    assert!(screen.contains("reason: means nothing here; leave it out"), "{screen}");
    assert_eq!(listed(&script), [3, 2, 1]);
    script.keys("<enter>");
    assert!(script.screen().contains("the filter is not complete"), "{}", script.screen());
    script.keys("<esc>");
    answer(&mut script, 3);
    script.keys("/");
    let screen = script.screen();
    assert!(
        screen.contains("tab: ") && !screen.contains("label:") && !screen.contains("failure:"),
        "{screen}"
    );
    let mut script = Script::new(Approvals::new(Some("T-6".into())), 100, 24);
    answer(&mut script, 5000);
    assert_eq!(listed(&script), [6, 7]);
    script.keys("/state:canceled<enter>");
    answer(&mut script, 5000);
    assert_eq!(listed(&script), [7], "{}", script.screen());
}

#[test]
fn the_footer_names_the_way_out_once() {
    let mut stage = Stage::conflicted();
    let mut script = stage.open(super::super::super::docket::Docket::new(), 100, 24);
    stage.press(&mut script, "A/");
    let screen = script.screen();
    let footer = screen.lines().last().unwrap_or_default();
    assert_eq!(footer.trim_end(), " enter keep  tab complete  esc leave  f1 help", "{screen}");
}

#[test]
fn sizes_while_it_is_typed() {
    for (name, width, height) in SIZES {
        let mut script = Script::new(Approvals::new(None), width, height);
        answer(&mut script, 30);
        script.keys("/task:T-1* a");
        answer(&mut script, 30);
        assert_snapshot!(name, script.screen());
    }
}

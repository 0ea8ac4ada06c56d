//! Key scripts on the docket, with a world of any size that answers what is asked.

mod columns;

use std::time::Duration;

use insta::assert_snapshot;

use super::super::stage::{DEPTHS, SIZES, blank, serve, status as status_of};
use super::*;
use crate::coordinator::{Page, Row, RowQuestion, Scope as Store};
use crate::domain::attention::{Reason, Stuck};
use crate::domain::ids::Timestamp;
use crate::domain::interruption::Need;
use crate::domain::task::TaskState;
use crate::tui::event::{Change, Reply};
use crate::tui::model::Link;
use crate::tui::testing::Script;

const NOW: i64 = 1_796_040_271_000;
const MINUTE: i64 = 60_000;

/// Rows by number, in the order of their numbers.
struct World {
    numbers: Vec<u32>,
    lists: usize,
    most: usize,
}

impl World {
    fn of(count: u32) -> World {
        World { numbers: (1000..1000 + count).collect(), lists: 0, most: 0 }
    }

    fn list(&mut self, request: &ListRequest) -> Page<Row> {
        self.lists += 1;
        self.most = self.most.max(request.limit);
        let at = request.after.as_ref().map(|after| after.parse::<u32>().unwrap());
        let (rows, more) = if request.backwards {
            let end = at.map_or(self.numbers.len(), |at| self.numbers.partition_point(|n| *n < at));
            let start = end.saturating_sub(request.limit);
            (&self.numbers[start..end], start > 0)
        } else {
            let start = at.map_or(0, |at| self.numbers.partition_point(|n| *n <= at));
            let end = (start + request.limit).min(self.numbers.len());
            (&self.numbers[start..end], end < self.numbers.len())
        };
        let fits = |row: &Row| request.query.terms.is_empty() || row.reason == Some(Reason::NeedsReview);
        Page { rows: rows.iter().map(|n| row(*n)).filter(fits).collect(), more }
    }

    /// Answers everything asked until nothing is.
    fn answer(&mut self, script: &mut Script) {
        serve(script, |ask| match ask {
            Ask::List(list) => Some(Reply::List(self.list(&list))),
            Ask::Tallies => Some(Reply::Tallies(self.tallies())),
            Ask::Quarantine(..) => Some(Reply::Quarantine(Vec::new())),
            Ask::Status => Some(Reply::Status(Box::new(status_of(0)))),
            Ask::Show(_) => None,
            other => panic!("{other:?}"),
        });
    }

    fn tallies(&self) -> Tallies {
        let all = Tally { count: self.numbers.len() as u64, capped: false };
        Tallies { all, decided: Tally { count: 10_000, capped: true }, ..Tallies::default() }
    }

    fn keys(&mut self, script: &mut Script, keys: &str) {
        for key in crate::tui::testing::parse(keys) {
            script.event(Event::Key(key));
            self.answer(script);
        }
    }

    fn news(&mut self, script: &mut Script) {
        script.event(Event::Feed(Change::News(vec![Some(TaskId("T-1".into()))])));
        script.wait(Duration::from_millis(300));
        self.answer(script);
    }
}

fn row(n: u32) -> Row {
    let asked = |need, prompt: &str| {
        let prompt = prompt.to_owned();
        Some(RowQuestion { id: "I-1".into(), need, prompt, expires_at: Some(Timestamp(NOW + 18 * MINUTE)) })
    };
    let (reason, stuck, interruption) = match n % 5 {
        0 => (Reason::NeedsReview, None, None),
        1 => (Reason::WaitingHuman, None, asked(Need::BusinessInput, "Which region? 地域 \u{202e}gnp")),
        2 => (Reason::WaitingHuman, None, asked(Need::MachineCredentials, "drive.read")),
        3 => (Reason::Stuck, Some(Stuck::LeaseExpired), None),
        _ => (Reason::Stuck, Some(Stuck::Quarantined), None),
    };
    let put_aside = stuck == Some(Stuck::Quarantined);
    Row {
        task_id: (!put_aside).then(|| format!("T-{n}")),
        trace_id: Some("R-7".into()),
        state: (!put_aside).then_some(TaskState::Running),
        state_version: Some(3),
        reason: Some(reason),
        stuck,
        since: Timestamp(NOW - i64::from(2_000_000_u32.saturating_sub(n)) / 10 * MINUTE / 1000),
        candidates: 2,
        messages: 5,
        interruption,
        goal: Some("collect\x1b[2J evidence".into()),
        priority: i64::from(n % 3),
        deadline: n.is_multiple_of(2).then_some(Timestamp(NOW - MINUTE * 61)),
        worker: Some("researcher-a".into()),
        quarantine: put_aside.then(|| format!("Q-{n}")),
        detail: put_aside.then(|| "required member recipient is missing".into()),
        cursor: n.to_string(),
        ..blank()
    }
}

fn script(world: &mut World, width: u16, height: u16) -> Script {
    let mut script = Script::new(Docket::new(), width, height);
    script.event(Event::Feed(Change::Link(Link::Live)));
    world.answer(&mut script);
    script
}

fn selected(script: &Script) -> String {
    let screen = script.screen();
    let line = screen.lines().find(|line| line.starts_with('▌')).unwrap_or_else(|| panic!("{screen}"));
    let word = line.split_whitespace().find(|word| word.starts_with("T-") || word.starts_with("Q-"));
    word.unwrap_or_default().to_owned()
}

#[test]
fn sizes() {
    for (name, width, height) in SIZES {
        let mut world = World::of(30);
        let mut script = script(&mut world, width, height);
        world.keys(&mut script, "jj");
        assert_snapshot!(name, script.screen());
    }
}

#[test]
fn depths() {
    for (name, theme, depth) in DEPTHS {
        let mut world = World::of(6);
        let mut script = Script::themed(Docket::new(), 80, 24, theme, depth);
        world.answer(&mut script);
        assert_snapshot!(name, script.styles());
    }
}

#[test]
fn the_first_frame_comes_before_any_data_and_everything_is_asked_at_once() {
    let mut script = Script::new(Docket::new(), 80, 24);
    assert!(script.screen().contains("[All]") && script.screen().contains("asks"));
    let asked: Vec<Ask> = script
        .effects()
        .into_iter()
        .filter_map(|effect| if let Effect::Ask(_, ask) = effect { Some(*ask) } else { None })
        .collect();
    assert!(matches!(asked.as_slice(), [Ask::Status, Ask::Tallies, Ask::List(_)]), "{asked:?}");
    script.wait(Duration::from_millis(200));
    assert!(script.screen().contains("reading…"));
}

#[test]
fn a_million_rows_are_walked_with_few_held_and_the_end_is_read_backwards() {
    let mut world = World::of(1_000_000);
    let mut script = script(&mut world, 80, 24);
    world.keys(&mut script, "jjj");
    assert_eq!(selected(&script), "T-1003");
    let before = world.lists;
    world.keys(&mut script, "G");
    assert_eq!(selected(&script), "Q-1000999");
    // The last page and the one before it, not the million between.
    assert!(world.lists - before <= 3, "{}", world.lists - before);
    world.keys(&mut script, &"k".repeat(1500));
    assert_eq!(selected(&script), "Q-999499");
    world.keys(&mut script, "g");
    assert_eq!(selected(&script), "T-1000");
    assert!(world.most <= 1000);
}

#[test]
fn keys_faster_than_answers_are_made_up_for() {
    let mut world = World::of(1_000_000);
    let mut script = script(&mut world, 80, 24);
    script.burst(&"j".repeat(900));
    world.answer(&mut script);
    assert_eq!(selected(&script), "T-1900");
    script.burst(&"k".repeat(900));
    world.answer(&mut script);
    assert_eq!(selected(&script), "T-1000");
}

#[test]
fn the_selection_follows_its_row_and_arrivals_above_are_counted() {
    let mut world = World::of(500);
    let mut script = script(&mut world, 80, 24);
    world.keys(&mut script, &"j".repeat(25));
    let before = script.screen();
    assert_eq!(selected(&script), "T-1025");
    world.numbers.splice(0..0, [7, 8, 9]);
    world.news(&mut script);
    assert_eq!(selected(&script), "T-1025");
    assert!(script.screen().contains("3 new ↑"), "{}", script.screen());
    let row = |screen: &str| screen.lines().position(|line| line.starts_with('▌'));
    assert_eq!(row(&before), row(&script.screen()));
    world.keys(&mut script, "g");
    assert_eq!(selected(&script), "T-7");
    assert!(!script.screen().contains("new ↑"));
}

#[test]
fn arrivals_at_the_end_are_counted_and_u_goes_there() {
    let mut world = World::of(500);
    let mut script = script(&mut world, 80, 24);
    world.numbers.extend([5000, 5001]);
    world.news(&mut script);
    assert_eq!(selected(&script), "T-1000");
    assert!(script.screen().contains("2 new ↓ u"), "{}", script.screen());
    assert!(script.screen().contains("[All 502]"));
    world.keys(&mut script, "u");
    assert_eq!(selected(&script), "T-5001");
    assert!(!script.screen().contains("new ↓"));
}

#[test]
fn a_row_that_leaves_is_told_and_the_next_takes_its_place() {
    let mut world = World::of(500);
    let mut script = script(&mut world, 80, 24);
    world.keys(&mut script, "jjj");
    world.numbers.remove(3);
    world.news(&mut script);
    assert!(script.screen().contains("T-1003 no longer waits in this place"), "{}", script.screen());
    assert_eq!(selected(&script), "Q-1004");
}

#[test]
fn news_are_read_four_times_a_second_at_most() {
    let mut world = World::of(500);
    let mut script = script(&mut world, 80, 24);
    script.wait(Duration::from_secs(1));
    let before = world.lists;
    for _ in 0..100 {
        script.event(Event::Feed(Change::News(vec![None])));
        script.wait(Duration::from_millis(10));
        world.answer(&mut script);
    }
    assert!((3..=5).contains(&(world.lists - before)), "{}", world.lists - before);
}

#[test]
fn a_filter_is_applied_as_it_is_typed_and_escape_takes_it_back() {
    let mut world = World::of(30);
    let mut script = script(&mut world, 80, 24);
    world.keys(&mut script, "/state:needs_rev");
    assert!(script.screen().contains("▲ `needs_rev` is no state"), "{}", script.screen());
    world.keys(&mut script, "<enter>");
    assert!(script.screen().contains("the filter is not complete"));
    world.keys(&mut script, "iew");
    assert!(script.screen().contains("! needs review") && !script.screen().contains("z stuck"));
    world.keys(&mut script, "<enter>");
    assert!(script.screen().contains("/ state:needs_review   6 found"), "{}", script.screen());
    // Typing anew and leaving changes nothing; one more step back lists everything.
    world.keys(&mut script, "/x<esc>");
    assert!(script.screen().contains("/ state:needs_review   6 found"));
    world.keys(&mut script, "<esc>");
    assert!(script.screen().contains("z stuck"));
    world.keys(&mut script, "/sta<tab>");
    assert!(script.screen().contains("/ state:"), "{}", script.screen());
}

#[test]
fn order_and_tab_are_asked_for() {
    let mut world = World::of(30);
    let mut script = script(&mut world, 80, 24);
    let asked = |script: &mut Script| {
        script.effects().into_iter().find_map(|effect| match effect {
            Effect::Ask(_, ask) => match *ask {
                Ask::List(list) => Some((list.scope, list.order.key, list.order.descending)),
                _ => None,
            },
            _ => None,
        })
    };
    script.keys("s");
    assert_eq!(asked(&mut script), Some((Store::Waiting, crate::coordinator::OrderKey::Deadline, false)));
    script.keys("S");
    assert_eq!(asked(&mut script), Some((Store::Waiting, crate::coordinator::OrderKey::Deadline, true)));
    script.keys("<tab>");
    let reviewed = Store::Reason(Reason::NeedsReview);
    assert_eq!(asked(&mut script), Some((reviewed, crate::coordinator::OrderKey::Deadline, true)));
    // What was typed before the new rows were there acts on nothing.
    script.keys("<enter>d");
    assert!(script.screen().contains("[Review 0]"), "{}", script.screen());
}

#[test]
fn the_task_under_a_resting_selection_is_read_and_no_other() {
    let mut world = World::of(30);
    let mut script = script(&mut world, 120, 40);
    script.effects();
    script.keys("jjjj");
    let shows = |effects: Vec<Effect>| {
        effects
            .into_iter()
            .filter(|e| matches!(e, Effect::Ask(_, ask) if matches!(**ask, Ask::Show(_))))
            .count()
    };
    assert_eq!(shows(script.effects()), 0);
    script.keys("k").wait(Duration::from_millis(90));
    assert_eq!(shows(script.effects()), 1);
}

#[test]
fn what_cannot_be_read_is_said_and_r_reads_again() {
    let mut script = Script::new(Docket::new(), 80, 24);
    for effect in script.effects() {
        let Effect::Ask(request, ask) = effect else { continue };
        if matches!(*ask, Ask::List(_)) {
            script.event(Event::Reply { request, reply: Reply::Failed("the disk is gone".into()) });
        }
    }
    assert!(script.screen().contains("could not be read: the disk is gone; r reads again"));
    script.keys("r");
    World::of(3).answer(&mut script);
    assert_eq!(selected(&script), "T-1000");
}

/// Answers lists by their scope, everything else with nothing.
fn by_scope(script: &mut Script, list: fn(Store) -> Vec<Row>) {
    serve(script, |ask| match ask {
        Ask::List(request) => Some(Reply::List(Page { rows: list(request.scope), more: false })),
        Ask::Tallies => Some(Reply::Tallies(Tallies::default())),
        Ask::Quarantine(..) => Some(Reply::Quarantine(Vec::new())),
        _ => None,
    });
}

fn quiet(n: u32, state: TaskState, approval_id: Option<&str>) -> Row {
    let approval_id = approval_id.map(str::to_owned);
    Row {
        reason: None,
        stuck: None,
        interruption: None,
        quarantine: None,
        state: Some(state),
        approval_id,
        ..row(n)
    }
}

/// A filter kept on the tab that so many tabs lead to, and what its list then says.
fn filtered(tabs: usize, list: fn(Store) -> Vec<Row>) -> Script {
    let mut script = Script::new(Docket::new(), 80, 24);
    by_scope(&mut script, list);
    for key in ["<tab>".repeat(tabs).as_str(), "/T-20", "<enter>"] {
        script.keys(key);
        by_scope(&mut script, list);
    }
    script
}

#[test]
fn a_filter_that_finds_nothing_says_where_it_would_and_enter_goes_there() {
    let decided = |scope| match scope {
        Store::Everything | Store::Decided => vec![quiet(1000, TaskState::Succeeded, Some("A-1"))],
        _ => Vec::new(),
    };
    let mut script = filtered(0, decided);
    let screen = script.screen();
    assert!(
        screen.contains("nothing that waits fits the filter; 1 in Decided: enter goes there"),
        "{screen}"
    );
    script.keys("<enter>");
    by_scope(&mut script, decided);
    assert!(
        script.screen().contains("[Decided 0]") && script.screen().contains("/ T-20"),
        "{}",
        script.screen()
    );
    assert_eq!(selected(&script), "T-1000");
    let waiting = |scope| if scope == Store::Waiting { vec![row(1003)] } else { Vec::new() };
    let screen = filtered(1, waiting).screen();
    assert!(screen.contains("nothing here fits the filter; 1 in All: enter goes there"), "{screen}");
    let running = |scope| match scope {
        Store::Everything => vec![quiet(1000, TaskState::Running, None), quiet(1001, TaskState::Ready, None)],
        _ => Vec::new(),
    };
    let screen = filtered(2, running).screen().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(screen.contains("2 in no list: add state:ready,running to the filter of All"), "{screen}");
    let screen = filtered(0, |_| Vec::new()).screen();
    assert!(screen.contains("nothing that waits fits the filter; no task fits it"), "{screen}");
}

#[test]
fn an_empty_list_says_what_it_lists_and_what_it_does_not() {
    let mut script = Script::new(Docket::new(), 80, 24);
    let words = [
        "what was decided is under Decided",
        "such tasks are listed here until somebody decides",
        "what remote agents ask is under Input and Auth",
        "(INPUT_REQUIRED); local questions are under Waiting",
        "(AUTH_REQUIRED); local questions",
        "nothing is stuck",
        "what could not be admitted comes here",
        "nothing was decided yet",
    ];
    for told in words {
        by_scope(&mut script, |_| Vec::new());
        let screen = script.screen().split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(screen.contains(told), "{told}\n{screen}");
        script.keys("<tab>");
    }
}

#[test]
fn a_column_with_nothing_in_view_gives_its_room_to_what_is_asked() {
    let head = |list: fn(Store) -> Vec<Row>, keys: &str| {
        let mut script = Script::new(Docket::new(), 119, 40);
        by_scope(&mut script, list);
        script.keys(keys);
        by_scope(&mut script, list);
        script.screen().lines().nth(2).unwrap_or_default().to_owned()
    };
    let titles = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let all = head(|_| vec![row(1000)], "");
    assert_eq!(titles(&all), ["why", "task", "asks", "age↓", "deadline", "prio", "trace", "worker"]);
    let none =
        head(|_| vec![Row { deadline: None, priority: 0, worker: None, trace_id: None, ..row(1000) }], "");
    assert_eq!(titles(&none), ["why", "task", "asks", "age↓"]);
    assert!(none.find("age").unwrap_or(0) > all.find("age").unwrap_or(0) + 20, "{all}\n{none}");
    // What the list is ordered by stays.
    let sorted = head(|_| vec![Row { deadline: None, ..row(1000) }], "s");
    assert!(titles(&sorted).contains(&"deadline↑".to_owned()), "{sorted}");
    let gone = head(|_| vec![Row { deadline: None, ..row(1000) }], "");
    assert_eq!(titles(&gone), ["why", "task", "asks", "age↓", "prio", "trace", "worker"]);
}

#[test]
fn what_the_coordinator_says_of_the_way_stands_in_the_header_until_it_says_otherwise() {
    use crate::coordinator::Link as Way;
    let mut world = World::of(3);
    let mut script = script(&mut world, 80, 24);
    let say = |script: &mut Script, link: &Way| {
        let mut asked = 0;
        serve(script, |ask| {
            let status = matches!(ask, Ask::Status);
            asked += usize::from(status);
            status.then(|| {
                Reply::Status(Box::new(crate::coordinator::Status { link: link.clone(), ..status_of(0) }))
            })
        });
        asked
    };
    script.event(Event::Feed(Change::Link(Link::Reconnecting { since: Duration::ZERO })));
    assert!(script.screen().contains("◌ reconnecting"), "{}", script.screen());
    assert_eq!(say(&mut script, &Way::Offline { data_of: Timestamp(NOW - 30 * MINUTE) }), 1);
    assert!(script.screen().contains("○ offline, data of 11:34"), "{}", script.screen());
    assert!(script.app().model().closed().is_some());
    // It is asked again now and then, and by itself.
    script.wait(Duration::from_secs(1));
    assert_eq!(script.app().wake(), Some(Duration::from_secs(1)));
    assert_eq!(say(&mut script, &Way::Live), 0);
    script.wait(Duration::from_secs(5));
    assert_eq!(say(&mut script, &Way::Reconnecting { since: Timestamp(NOW - 3000) }), 1);
    assert!(script.screen().contains("◌ reconnecting"), "{}", script.screen());
    // Live is what both say: the feed is not there yet.
    script.wait(Duration::from_secs(5));
    assert_eq!(say(&mut script, &Way::Live), 1);
    assert!(script.screen().contains("◌ reconnecting"), "{}", script.screen());
    script.event(Event::Feed(Change::Link(Link::Live)));
    assert_eq!(say(&mut script, &Way::Live), 1);
    assert!(script.screen().contains("● live") && script.app().model().fresh(), "{}", script.screen());
}

//! Who gets a key, what Esc does, what a decision ignores.

use std::cell::RefCell;
use std::rc::Rc;

use super::*;
use crate::tui::event::Reply;
use crate::tui::testing::Script;

type Log = Rc<RefCell<Vec<String>>>;

/// Writes down everything it is told.
struct Probe {
    name: &'static str,
    log: Log,
    popup: bool,
    guarded: bool,
    typing: bool,
}

fn probe(name: &'static str, log: &Log) -> Probe {
    Probe { name, log: Rc::clone(log), popup: false, guarded: false, typing: false }
}

impl Layer for Probe {
    fn scopes(&self) -> &'static [Scope] {
        if self.typing {
            &[Scope::Line, Scope::Field, Scope::Always]
        } else {
            &[Scope::Quarantine, Scope::List, Scope::Global, Scope::Always]
        }
    }
    fn on(&mut self, action: Action, ctx: &mut Ctx<'_>) -> Outcome {
        match action {
            Action::Open => ctx.push(probe("deeper", &self.log)),
            Action::ToggleSettled => {
                ctx.push(Probe { typing: true, popup: true, ..probe("field", &self.log) })
            }
            Action::Last => ctx.push(Probe { guarded: true, ..probe("guarded", &self.log) }),
            Action::First => {
                ctx.push(Probe { guarded: true, typing: true, ..probe("guarded field", &self.log) })
            }
            Action::HalfPageDown => drop(ctx.request()),
            Action::Back | Action::Quit | Action::Help | Action::Palette | Action::ToggleTheme => {
                return Outcome::Ignored;
            }
            _ => {}
        }
        self.log.borrow_mut().push(format!("{}: {}", self.name, action.entry().name));
        Outcome::Handled
    }
    fn text(&mut self, key: Key, _ctx: &mut Ctx<'_>) {
        self.log.borrow_mut().push(format!("{} typed {key}", self.name));
    }
    fn event(&mut self, event: &Event, _ctx: &mut Ctx<'_>) {
        if !matches!(event, Event::Tick) {
            self.log.borrow_mut().push(format!("{} told {event:?}", self.name));
        }
    }
    fn draw(&self, frame: &mut Frame<'_>, area: Rect, _view: &View<'_>) {
        frame.buffer_mut().set_stringn(area.x, area.y, self.name, usize::from(area.width), Style::new());
    }
    fn wants_text(&self) -> bool {
        self.typing
    }
    fn popup(&self) -> bool {
        self.popup
    }
    fn guarded(&self) -> bool {
        self.guarded
    }
}

fn script() -> (Script, Log) {
    let log = Log::default();
    let script = Script::new(probe("first", &log), 80, 24);
    log.borrow_mut().clear();
    (script, log)
}

fn told(log: &Log) -> Vec<String> {
    std::mem::take(&mut *log.borrow_mut())
}

#[test]
fn a_layer_is_told_its_size_before_its_first_frame_and_again_when_it_changes() {
    let log = Log::default();
    let mut script = Script::new(probe("first", &log), 80, 24);
    assert_eq!(told(&log), ["first told Resize { width: 80, height: 22 }"]);
    script.event(Event::Resize { width: 100, height: 30 });
    assert_eq!(told(&log), ["first told Resize { width: 100, height: 28 }"]);
}

#[test]
fn esc_goes_back_one_level_and_never_leaves() {
    let (mut script, _) = script();
    script.keys("<enter>");
    assert!(script.screen().contains("deeper"));
    script.keys("<esc><esc><esc>");
    assert!(script.screen().contains("first"));
    assert_eq!(script.effects(), []);
    script.keys("q");
    assert_eq!(script.effects(), [Effect::Quit]);
}

#[test]
fn leaving_over_a_loss_is_asked_once_and_again_after_another_key() {
    let now = Now { run: Duration::ZERO, wall: jiff::Timestamp::UNIX_EPOCH };
    let look = Look { theme: None, depth: Depth::True, keymap: Keymap::default() };
    let first = Box::new(probe("first", &Log::default()));
    let app = &mut App::new(Model::new("store", "you", now), look, first, 80, 24);
    let press = |app: &mut App, key: char| app.update(Event::Key(Key::plain(Code::Char(key))), now);
    assert_eq!(press(app, 'q'), [Effect::Quit]);
    assert!(!app.warned_of_loss("T-1: the disk is full"));
    assert!(
        app.notice.as_ref().is_some_and(|said| said.text.contains("loses what you wrote: T-1: the disk"))
    );
    press(app, 'q');
    assert!(app.warned_of_loss("T-1: the disk is full"), "asked twice in a row it leaves");
    press(app, 'j');
    assert!(!app.warned_of_loss("T-1: the disk is full"));
}

#[test]
fn three_levels_is_the_deepest_and_popups_do_not_count() {
    let (mut script, log) = script();
    script.keys("<enter><enter><enter>");
    assert!(script.screen().contains("three levels deep already: esc goes back"));
    script.keys("?");
    assert!(script.screen().contains("Keys here"));
    script.keys("<esc><esc><esc>");
    told(&log);
    script.keys("j");
    assert_eq!(told(&log), ["first: down"]);
}

#[test]
fn characters_are_typed_into_a_field_and_run_nothing() {
    let (mut script, log) = script();
    script.keys("x");
    told(&log);
    script.keys("qj?:<backspace><down><f5>");
    assert_eq!(
        told(&log),
        [
            "field typed q",
            "field typed j",
            "field typed ?",
            "field typed :",
            "field typed backspace",
            "field: down",
            "field typed f5"
        ]
    );
    assert_eq!(script.effects(), []);
    script.event(Event::Paste("q\n".into()));
    assert_eq!(told(&log), ["field told Paste(\"q\\n\")"]);
}

#[test]
fn a_paste_outside_a_field_does_nothing() {
    let (mut script, log) = script();
    script.event(Event::Paste("q\rDr".into()));
    assert_eq!(told(&log), Vec::<String>::new());
    assert_eq!(script.effects(), []);
}

#[test]
fn a_guarded_layer_ignores_what_was_typed_before_it_was_seen_and_for_300_ms_after() {
    let (mut script, log) = script();
    // All at once: the dialog opens and the rest was typed before anybody could see it.
    script.burst("Gr<enter>jj");
    assert_eq!(told(&log), ["first: last", "guarded told Resize { width: 80, height: 22 }"]);
    script.wait(Duration::from_millis(299)).keys("");
    script.burst("r");
    assert_eq!(told(&log), Vec::<String>::new());
    script.wait(Duration::from_millis(1)).burst("r");
    assert_eq!(told(&log), ["guarded: readmit"]);
}

#[test]
fn a_guarded_field_takes_no_early_paste_and_can_always_be_left() {
    let (mut script, log) = script();
    script.burst("g");
    told(&log);
    script.event(Event::Paste("9f2c41".into()));
    script.burst("9f2c41<enter>");
    assert_eq!(told(&log), Vec::<String>::new());
    script.burst("<esc>");
    assert!(script.screen().contains("first"));
}

#[test]
fn a_dangerous_action_waits_until_its_layer_was_painted() {
    let (mut script, log) = script();
    script.burst("<enter>Dr");
    assert_eq!(told(&log), ["first: open", "deeper told Resize { width: 80, height: 22 }"]);
    script.burst("D");
    assert_eq!(told(&log), ["deeper: drop"]);
}

#[test]
fn a_reply_reaches_only_who_asked_and_a_closed_layer_takes_its_request_back() {
    let (mut script, log) = script();
    script.keys("<enter><ctrl-d>");
    told(&log);
    script.event(Event::Reply { request: 1, reply: Reply::Failed("no".into()) });
    assert_eq!(told(&log), ["deeper told Reply { request: 1, reply: Failed(\"no\") }"]);
    script.event(Event::Reply { request: 1, reply: Reply::Failed("twice".into()) });
    assert_eq!(told(&log), Vec::<String>::new());
    script.keys("<ctrl-d><esc>");
    told(&log);
    assert_eq!(script.effects(), [Effect::Cancel(2)]);
    script.event(Event::Reply { request: 2, reply: Reply::Failed("late".into()) });
    assert_eq!(told(&log), Vec::<String>::new());
}

#[test]
fn escape_and_a_key_read_together_are_two_keys() {
    let (mut script, log) = script();
    script.keys("<enter>");
    told(&log);
    script.keys("<alt-j>");
    assert_eq!(told(&log), ["first: down"]);
}

#[test]
fn news_of_the_connection_reaches_the_header_and_time_wakes_only_what_changes() {
    let (mut script, _) = script();
    script.event(Event::Feed(Change::Link(Link::Live)));
    assert!(script.screen().contains("● live"));
    assert_eq!(script.app().wake(), None);
    let since = Duration::ZERO;
    script.event(Event::Feed(Change::Link(Link::Reconnecting { since })));
    script.wait(Duration::from_secs(3));
    assert!(script.screen().contains("◌ reconnecting 3s"));
    assert_eq!(script.app().wake(), Some(Duration::from_secs(1)));
}

#[test]
fn a_notice_goes_by_itself() {
    let (mut script, _) = script();
    script.keys("<ctrl-t>");
    assert!(script.screen().contains("theme high-contrast"));
    let wait = script.app().wake().unwrap();
    script.wait(wait);
    assert!(!script.screen().contains("theme high-contrast"));
    assert_eq!(script.app().wake(), None);
}

#[test]
fn a_notice_goes_with_the_next_key_that_does_something_and_with_its_screen() {
    let (mut script, _) = script();
    script.keys("<ctrl-t>");
    assert!(script.screen().contains("theme high-contrast"));
    script.keys("<f9>");
    assert!(script.screen().contains("theme high-contrast"), "a key that does nothing");
    script.keys("j");
    assert!(!script.screen().contains("theme high-contrast"));
    script.keys("<enter><ctrl-t>");
    assert!(script.screen().contains("theme "));
    script.keys("<esc>");
    assert!(script.screen().contains("first") && !script.screen().contains("theme "), "{}", script.screen());
}

#[test]
fn what_no_key_caused_is_not_typed_away() {
    let (mut script, _) = script();
    script.keys("x").event(Event::Feed(Change::Unkept(Some("T-1: the disk is full".into()))));
    script.keys("abc");
    assert!(script.screen().contains("not kept on disk: T-1: the disk is full"), "{}", script.screen());
}

#[test]
fn the_background_is_followed_until_a_theme_is_chosen() {
    let look = |theme| Look { theme, depth: Depth::True, keymap: Keymap::default() };
    let now = Now { run: Duration::ZERO, wall: jiff::Timestamp::UNIX_EPOCH };
    let app =
        |theme| App::new(Model::new("", "", now), look(theme), Box::new(probe("", &Log::default())), 80, 24);
    let mut following = app(None);
    following.update(Event::Background { light: true }, now);
    assert_eq!(following.theme().name, "default-light");
    let mut chosen = app(Theme::embedded("default-dark"));
    chosen.update(Event::Background { light: true }, now);
    assert_eq!(chosen.theme().name, "default-dark");
}

#[test]
fn palette_runs_what_is_valid_here_but_enter_never_runs_what_changes_the_record() {
    let (mut script, log) = script();
    script.keys(":half-page-down");
    told(&log);
    script.keys("<enter>");
    assert_eq!(told(&log), ["first: half-page-down"]);
    script.keys(":readmit<enter>");
    assert_eq!(told(&log), Vec::<String>::new());
    assert!(script.screen().contains("readmit runs by its own key only: r"));
    script.keys("<esc>:swap-sides<enter>");
    assert!(script.screen().contains("swap-sides is for: case"));
}

#[test]
fn help_lists_only_what_is_valid_here_and_is_searched_by_key() {
    let (mut script, log) = script();
    script.keys("?readmit");
    assert!(script.screen().contains("readmit !"));
    script.keys("<esc>?swap-sides");
    assert!(script.screen().contains(" 0 of "));
    script.keys("<esc>?ctrl-d");
    let screen = script.screen();
    assert!(screen.contains("▌half-page-down"), "{screen}");
    script.keys("<enter>");
    assert!(told(&log).contains(&"first: half-page-down".to_owned()));
}

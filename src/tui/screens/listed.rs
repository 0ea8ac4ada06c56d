//! Nothing is listed that does nothing: every action of every scope is carried out by a screen that has the scope.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use ratatui::Frame;
use ratatui::layout::Rect;

use super::answer::Answer;
use super::approvals::{Approvals, Opened as Record};
use super::case::Case;
use super::decision::Decision;
use super::docket::{Choosing, Docket};
use super::quarantine::{Opened as Entry, Quarantine, Readmit};
use super::stage::Stage;
use super::timeline::Timeline;
use super::viewer::Viewer;
use super::{Ctx, Layer, Outcome, View};
use crate::domain::task::TaskState;
use crate::tui::action::{ACTIONS, Action, Scope};
use crate::tui::event::{Event, Key};
use crate::tui::keymap::Keymap;

/// The scope and name of each action that was carried out.
type Done = Rc<RefCell<BTreeSet<(&'static str, &'static str)>>>;

/// A layer, and what it carried out.
struct Watched<L>(L, Done);

impl<L: Layer> Layer for Watched<L> {
    fn scopes(&self) -> &'static [Scope] {
        self.0.scopes()
    }
    fn on(&mut self, action: Action, ctx: &mut Ctx<'_>) -> Outcome {
        let scopes = self.0.scopes();
        let outcome = self.0.on(action, ctx);
        if outcome == Outcome::Handled {
            let valid = scopes.iter().filter(|scope| action.entry().valid_in(**scope));
            self.1.borrow_mut().extend(valid.map(|scope| (scope.word(), action.entry().name)));
        }
        outcome
    }
    fn text(&mut self, key: Key, ctx: &mut Ctx<'_>) {
        self.0.text(key, ctx);
    }
    fn event(&mut self, event: &Event, ctx: &mut Ctx<'_>) {
        self.0.event(event, ctx);
    }
    fn draw(&self, frame: &mut Frame<'_>, area: Rect, view: &View<'_>) {
        self.0.draw(frame, area, view);
    }
    fn wants_text(&self) -> bool {
        self.0.wants_text()
    }
}

/// Opens a screen, types `keys`, and then every key that these scopes list, each on a screen of its own.
fn run<L: Layer + 'static>(
    done: &Done,
    stage: fn() -> Stage,
    layer: impl Fn() -> L,
    keys: &str,
    scopes: &'static [Scope],
) {
    let keymap = Keymap::default();
    for key in ACTIONS.iter().filter_map(|entry| keymap.keys(scopes, entry.action).next()) {
        let mut stage = stage();
        let mut script = stage.open(Watched(layer(), Rc::clone(done)), 60, 16);
        stage.press(&mut script, keys);
        script.keys(&format!("<{key}>"));
    }
}

fn decided() -> Stage {
    let mut stage = Stage::conflicted();
    let decision = stage.world.decision(TaskState::Ready);
    stage.world.decide(decision).unwrap();
    stage
}

fn approved() -> Stage {
    Stage::waiting(serde_json::json!({"prompt": "May I?", "need": "human_approval"}))
}

/// A question with a result that is held beside it.
fn beside() -> Stage {
    let mut stage = approved();
    stage.result("M-9", "researcher-b", "2026-11-30T12:00:00Z", serde_json::json!(1), serde_json::json!([]));
    stage
}

fn asked() -> Stage {
    Stage::waiting(serde_json::json!({"prompt": "Which region?"}))
}

#[test]
fn every_listed_action_is_carried_out_somewhere_in_its_scope() {
    let done = Done::default();
    let id = || "T".into();
    let field = &[Scope::Field, Scope::Line];
    run(&done, Stage::conflicted, Docket::new, "", &[Scope::Docket, Scope::List]);
    run(&done, Stage::conflicted, Docket::new, "/", field);
    run(&done, Stage::conflicted, Choosing::default, "", &[Scope::Columns]);
    run(&done, asked, || Answer::new(id()), "", field);
    run(&done, Stage::conflicted, || Case::new(id()), "", &[Scope::Case]);
    run(&done, Stage::conflicted, || Decision::new(id()), "", &[Scope::Decision]);
    run(&done, Stage::conflicted, || Decision::new(id()), "<tab><tab>", field);
    run(
        &done,
        decided,
        || Decision::new(id()),
        "<space><tab><tab>why<tab><tab>ready<ctrl-s>",
        &[Scope::Decision],
    );
    run(&done, approved, || Answer::new(id()), "", &[Scope::Answer]);
    run(&done, beside, || Answer::new(id()), "<tab>", &[Scope::Answer]);
    run(&done, approved, || Answer::new(id()), "<space><tab>why<tab>approve<ctrl-s>", &[Scope::Answer]);
    run(&done, decided, || Timeline::new(id()), "", &[Scope::Timeline]);
    run(&done, decided, || Approvals::new(None), "", &[Scope::Approvals]);
    run(&done, decided, || Record::new(1), "", &[Scope::Record]);
    run(&done, Stage::conflicted, Quarantine::new, "", &[Scope::Quarantine]);
    run(&done, Stage::conflicted, || Entry::new("Q-1".into()), "", &[Scope::Entry]);
    run(&done, Stage::conflicted, || Readmit::new("Q-1".into()), "", &[Scope::Confirm]);
    run(&done, Stage::conflicted, || Viewer::own("text", vec!["a line".into()]), "", &[Scope::Text]);
    // These are the app's own.
    let app = [Scope::Always, Scope::Global].map(Scope::word);
    let listed =
        ACTIONS.iter().flat_map(|entry| entry.keys.iter().map(|(scope, _)| (scope.word(), entry.name)));
    let dead: Vec<_> = listed.filter(|one| !app.contains(&one.0) && !done.borrow().contains(one)).collect();
    assert_eq!(dead, []);
}

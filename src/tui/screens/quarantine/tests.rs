//! Key scripts on the quarantine, with entries made up here.

use insta::assert_snapshot;

use super::super::stage::{BYTES, DEPTHS, SIZES, entry, serve};
use super::*;
use crate::coordinator::Quarantined;
use crate::domain::command::Admitted;
use crate::tui::model::Link;
use crate::tui::testing::Script;
use std::time::Duration;

/// Answers what is asked; returns what would have been written.
fn answer(script: &mut Script, entries: &[Entry]) -> Vec<Ask> {
    let mut written = Vec::new();
    serve(script, |ask| match ask {
        Ask::Quarantine(after, limit, _) => {
            let page = entries.iter().filter(|e| e.number > after).take(limit);
            Some(Reply::Quarantine(page.cloned().collect()))
        }
        Ask::Entry(id) => {
            let entry = entries.iter().find(|e| e.id == id).unwrap().clone();
            Some(Reply::Entry(Box::new(Quarantined { entry, bytes: BYTES.as_bytes().into() })))
        }
        ask => {
            written.push(ask);
            None
        }
    });
    written
}

fn script(entries: &[Entry], width: u16, height: u16) -> Script {
    let mut script = Script::new(Quarantine::new(), width, height);
    script.event(Event::Feed(Change::Link(Link::Live)));
    answer(&mut script, entries);
    script
}

#[test]
fn sizes_and_depths() {
    let entries: Vec<Entry> = (1..=9).map(entry).collect();
    for (name, width, height) in SIZES {
        let mut script = script(&entries, width, height);
        assert_snapshot!(format!("list_{name}"), script.keys("j").screen());
        script.keys("<enter>");
        answer(&mut script, &entries);
        assert_snapshot!(format!("opened_{name}"), script.screen());
        assert!(!script.screen().contains(['\u{202e}', '\u{200b}', '\u{1b}']));
    }
    for (name, theme, depth) in DEPTHS {
        let mut script = Script::themed(Quarantine::new(), 80, 24, theme, depth);
        answer(&mut script, &entries[..2]);
        assert_snapshot!(name, script.styles());
    }
}

#[test]
fn delivering_again_is_asked_once_more_and_enter_does_nothing() {
    let entries = [entry(1)];
    let mut script = script(&entries, 80, 24);
    // Typed before the dialog was seen: nothing.
    script.burst("r<ctrl-s>");
    assert_eq!(answer(&mut script, &entries), []);
    script.keys("<enter>").wait(Duration::from_millis(400));
    script.keys("<enter>");
    assert_eq!(answer(&mut script, &entries), []);
    script.keys("<ctrl-s><ctrl-s>");
    let mut asked = Vec::new();
    for effect in script.effects() {
        if let Effect::Ask(request, ask) = effect {
            asked.push((request, *ask));
        }
    }
    let [(request, Ask::Readmit(id))] = asked.as_slice() else { panic!("{asked:?}") };
    assert_eq!(id, "Q-1");
    let admitted = Admitted {
        message_id: None,
        task_id: None,
        outcome: "quarantined".into(),
        arrival: None,
        duplicate_of: None,
        state: None,
        state_version: None,
        reason: Some("still\u{1b} malformed".into()),
        quarantine: Some("Q-1".into()),
    };
    script.event(Event::Reply { request: *request, reply: Reply::Readmit(Box::new(admitted)) });
    assert!(
        script.screen().contains("delivered again: quarantined: still␛ malformed"),
        "{}",
        script.screen()
    );
    assert!(!script.screen().contains("ctrl-s delivers"));
}

#[test]
fn dropping_wants_a_reason_and_its_own_key() {
    let entries = [entry(1)];
    let mut script = script(&entries, 80, 24);
    script.keys("D").wait(Duration::from_millis(400));
    script.keys("<ctrl-s>");
    assert!(script.screen().contains("▲ a reason is required, and kept"), "{}", script.screen());
    script.keys("a test of ours<enter>");
    assert_eq!(answer(&mut script, &entries), []);
    script.keys("<ctrl-s>");
    assert_eq!(answer(&mut script, &entries), [Ask::Drop("Q-1".into(), "a test of ours".into())]);
}

#[test]
fn nothing_is_written_while_the_connection_is_lost() {
    let entries = [entry(1)];
    let mut script = script(&entries, 80, 24);
    script.event(Event::Feed(Change::Link(Link::Reconnecting { since: Duration::ZERO })));
    script.keys("r").wait(Duration::from_millis(400));
    script.keys("<ctrl-s>");
    assert_eq!(answer(&mut script, &entries), []);
    assert!(script.screen().contains("nothing can be written now"));
}

#[test]
fn a_long_quarantine_is_paged_to_its_end_and_back() {
    let entries: Vec<Entry> = (1..=3000).map(entry).collect();
    let mut script = script(&entries, 80, 24);
    script.keys("G");
    answer(&mut script, &entries);
    assert!(script.screen().contains("▌Q-3000"), "{}", script.screen());
    for _ in 0..2999 {
        script.keys("k");
        answer(&mut script, &entries);
    }
    assert!(script.screen().contains("▌Q-1 "), "{}", script.screen());
}

//! Key scripts on a million rows, at every size and in every depth.

mod million;

use std::time::{Duration, Instant};

use insta::assert_snapshot;
use million::Million;
use tribunal::tui::effect::Effect;
use tribunal::tui::event::Event;
use tribunal::tui::testing::Script;
use tribunal::tui::theme::Depth;

fn at(width: u16, height: u16, keys: &str) -> String {
    Script::new(Million::new(), width, height).keys(keys).screen()
}

#[test]
fn sizes() {
    assert_snapshot!("120x40", at(120, 40, "jjj<ctrl-d>"));
    assert_snapshot!("80x24", at(80, 24, "G"));
    assert_snapshot!("40x12", at(40, 12, "jj"));
    assert_snapshot!("20x5", at(20, 5, "jj"));
    assert_snapshot!("1x1", at(1, 1, "jj:x?<esc>"));
    assert_snapshot!("80x24_palette", at(80, 24, ":tog"));
    assert_snapshot!("40x12_help", at(40, 12, "?"));
}

#[test]
fn depths() {
    for (name, theme, depth) in [
        ("true_colour", "default-dark", Depth::True),
        ("256_colours", "default-dark", Depth::Indexed),
        ("16_colours", "ansi16", Depth::Sixteen),
        ("no_colour", "mono", Depth::Mono),
    ] {
        let mut script = Script::themed(Million::new(), 40, 12, theme, depth);
        assert_snapshot!(name, script.keys("j").styles());
    }
}

#[test]
fn no_size_panics_and_a_resize_keeps_the_selection_in_view() {
    let mut script = Script::new(Million::new(), 120, 40);
    script.keys("GGkk");
    for (width, height) in
        [(1, 1), (0, 0), (40, 12), (39, 12), (40, 11), (300, 100), (41, 13), (2, 60), (200, 1)]
    {
        script.event(Event::Resize { width, height }).keys("j:a<down><pgdn><esc>?<esc>k");
        if width >= 40 && height >= 12 {
            assert!(script.screen().contains("▌T-999997"), "{width}×{height}\n{}", script.screen());
        }
    }
}

#[test]
fn borders_stay_straight_beside_wide_and_revealed_text() {
    let screen = at(80, 24, ":");
    let inside: Vec<usize> =
        screen.lines().filter(|line| line.contains('│')).map(unicode_width::UnicodeWidthStr::width).collect();
    assert!(inside.len() > 10 && inside.iter().all(|width| *width == 80), "{inside:?}");
    assert!(!screen.contains('\u{202e}'));
}

#[test]
fn copying_is_an_effect() {
    let mut script = Script::new(Million::new(), 80, 24);
    assert_eq!(script.keys("jjy").effects(), [Effect::Copy("T-2".into())]);
}

#[test]
fn a_frame_of_a_million_rows_takes_no_longer_than_of_few() {
    let mut script = Script::new(Million::new(), 160, 50);
    script.keys("G");
    let start = Instant::now();
    script.keys(&"k".repeat(100));
    // Far above what a frame takes here without optimisation, far below what building all rows takes.
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    assert!(script.screen().contains("▌T-999899"));
}

#[test]
fn a_picture_has_every_row() {
    let mut script = Script::themed(Million::new(), 80, 24, "default-dark", Depth::True);
    let picture = script.keys("j").picture();
    assert!(picture.starts_with("<svg") && picture.contains("fill=\"#1e1e2e\""));
    assert!(picture.contains("T-1 ") && picture.contains("地"));
}

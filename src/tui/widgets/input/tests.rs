//! Fields take text as text and keep the cursor where the next character goes.

use super::*;
use ratatui::Terminal;
use ratatui::backend::{Backend as _, TestBackend};

fn typed(field: &mut Field, text: &str) {
    for char in text.chars() {
        field.key(Key::plain(Code::Char(char)));
    }
}

fn drawn(field: &Field, width: u16, height: u16) -> (String, Position) {
    let theme = Theme::embedded("mono").unwrap();
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| field.draw(frame, frame.area(), &theme, true)).unwrap();
    let position = terminal.backend_mut().get_cursor_position().unwrap();
    (terminal.backend().to_string(), position)
}

#[test]
fn the_cursor_stands_behind_wide_characters_and_scrolls_with_the_text() {
    let mut field = Field::line("");
    typed(&mut field, "a界b");
    assert_eq!(drawn(&field, 20, 1).1, Position { x: 4, y: 0 });
    typed(&mut field, &"x".repeat(40));
    let (_, cursor) = drawn(&field, 20, 1);
    assert_eq!(cursor.x, 19);
    assert_eq!(drawn(&field, 1, 1).1, Position { x: 0, y: 0 });
}

#[test]
fn a_paste_is_text_and_brings_nothing_hidden() {
    let mut field = Field::line("");
    assert_eq!(field.paste("one\r\ntwo\x1b[2J\u{202e}"), 2);
    assert_eq!(field.text(), "one two[2J");
    let mut field = Field::lines("");
    assert_eq!(field.paste("one\r\ntwo\rthree\n"), 0);
    assert_eq!(field.text(), "one\ntwo\nthree\n");
}

#[test]
fn enter_ends_no_line_in_a_field_of_one_line() {
    let mut field = Field::line("a");
    assert!(!field.key(Key::plain(Code::Enter)));
    assert!(!field.key(Key { ctrl: true, ..Key::plain(Code::Char('m')) }));
    assert_eq!(field.text(), "a");
    let mut field = Field::lines("a");
    assert!(field.key(Key::plain(Code::Enter)));
    assert_eq!(field.text(), "a\n");
}

#[test]
fn a_field_holds_no_more_than_its_limit() {
    let mut field = Field::lines("");
    assert_eq!(field.paste(&"x".repeat(LIMIT + 5)), 5);
    typed(&mut field, "yyy");
    assert_eq!(field.text().len(), LIMIT);
}

#[test]
fn an_error_stands_below_the_character_it_is_about_until_the_text_changes() {
    let mut field = Field::line("age>2q");
    field.set_error(Some((5, "no unit is called q".into())));
    let (screen, _) = drawn(&field, 30, 2);
    assert!(screen.contains("     ▲ no unit is called q"), "{screen}");
    typed(&mut field, "x");
    assert_eq!(field.error(), None);
}

#[test]
fn ctrl_u_clears_to_the_start_of_the_line_and_brings_nothing_back() {
    let clear = Key { ctrl: true, ..Key::plain(Code::Char('u')) };
    let mut field = Field::line("a default");
    assert!(field.key(clear));
    assert_eq!(field.text(), "");
    assert!(!field.key(clear));
    assert_eq!(field.text(), "");
    let mut field = Field::lines("one\ntwo three");
    field.key(Key { ctrl: true, ..Key::plain(Code::Left) });
    assert!(field.key(clear));
    assert_eq!(field.text(), "one\nthree");
    assert!(!field.key(clear), "the line above is not joined");
    assert_eq!(field.text(), "one\nthree");
}

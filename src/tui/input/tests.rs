//! The terminal's answer is taken out of the keys, and nothing else is.

use super::*;

fn filtered(expected: bool, keys: &[Key]) -> Vec<String> {
    let mut answers = Answers { expected, ..Answers::default() };
    let mut out = VecDeque::new();
    for key in keys {
        answers.filter(Event::Key(*key), &mut out);
    }
    out.iter()
        .map(|event| match event {
            Event::Key(Key { code: Code::Char(char), alt, .. }) => {
                format!("{}{char}", if *alt { "alt-" } else { "" })
            }
            Event::Background { light } => format!("light={light}"),
            other => format!("{other:?}"),
        })
        .collect()
}

fn answer(text: &str, end: Key) -> Vec<Key> {
    let open = Key { alt: true, ..Key::plain(Code::Char(']')) };
    [open].into_iter().chain(text.chars().map(|c| Key::plain(Code::Char(c)))).chain([end]).collect()
}

const STRING_END: Key = Key { alt: true, ..Key::plain(Code::Char('\\')) };
const BELL: Key = Key { ctrl: true, ..Key::plain(Code::Char('g')) };

#[test]
fn an_answer_becomes_light_or_dark() {
    assert_eq!(filtered(true, &answer("11;rgb:1111/1111/1111", STRING_END)), ["light=false"]);
    assert_eq!(filtered(true, &answer("11;rgb:ffff/ffff/ffff", BELL)), ["light=true"]);
    assert_eq!(filtered(true, &answer("11;rgb:ff/f0/e0", BELL)), ["light=true"]);
    assert_eq!(filtered(true, &answer("11;rgba:0000/0000/0000/ffff", STRING_END)), ["light=false"]);
}

#[test]
fn keys_before_and_after_an_answer_are_kept_in_order() {
    let mut keys = vec![Key::plain(Code::Char('j'))];
    keys.extend(answer("11;rgb:0000/0000/0000", STRING_END));
    keys.push(Key::plain(Code::Char('k')));
    assert_eq!(filtered(true, &keys), ["j", "light=false", "k"]);
}

#[test]
fn what_is_no_answer_is_given_back() {
    let mut keys = answer("1x", Key::plain(Code::Char('y')));
    assert_eq!(filtered(true, &keys), ["alt-]", "1", "x", "y"]);
    keys = answer("11;rgb:", Key::plain(Code::Enter));
    assert_eq!(filtered(true, &keys).len(), keys.len());
    let endless = answer(&format!("11;rgb:{}", "f".repeat(64)), BELL);
    assert_eq!(filtered(true, &endless).len(), endless.len());
}

#[test]
fn nothing_is_taken_when_nothing_was_asked() {
    assert_eq!(filtered(false, &answer("11", BELL)), ["alt-]", "1", "1", "g"]);
}

#[test]
fn keys_are_translated_with_their_modifiers() {
    let press = |code, modifiers| translate_key(event::KeyEvent::new(code, modifiers)).unwrap();
    assert_eq!(press(KeyCode::Char('G'), KeyModifiers::SHIFT), Key::plain(Code::Char('G')));
    assert_eq!(press(KeyCode::BackTab, KeyModifiers::SHIFT), Key::plain(Code::BackTab));
    assert_eq!(press(KeyCode::Tab, KeyModifiers::SHIFT), Key::plain(Code::BackTab));
    let key = press(KeyCode::Char('d'), KeyModifiers::CONTROL);
    assert_eq!(key, Key { ctrl: true, ..Key::plain(Code::Char('d')) });
    assert_eq!(press(KeyCode::Left, KeyModifiers::SHIFT), Key { shift: true, ..Key::plain(Code::Left) });
    assert!(translate_key(event::KeyEvent::new(KeyCode::CapsLock, KeyModifiers::NONE)).is_none());
}

#[test]
fn a_paste_is_cut_at_a_character() {
    let text = "é".repeat(PASTE_LIMIT);
    let Some(Event::Paste(cut)) = translate(event::Event::Paste(text)) else { panic!("a paste") };
    assert_eq!(cut.len(), PASTE_LIMIT);
}

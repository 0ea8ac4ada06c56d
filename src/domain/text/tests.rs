//! Every class of character that can drive a terminal or lie, against lists from the Unicode database.

use std::borrow::Cow;

use proptest::prelude::*;

use super::*;

/// General category Cf, as listed in DerivedGeneralCategory.txt of Unicode 16.
const CF: &[(u32, u32)] = &[
    (0xAD, 0xAD),
    (0x600, 0x605),
    (0x61C, 0x61C),
    (0x6DD, 0x6DD),
    (0x70F, 0x70F),
    (0x890, 0x891),
    (0x8E2, 0x8E2),
    (0x180E, 0x180E),
    (0x200B, 0x200F),
    (0x202A, 0x202E),
    (0x2060, 0x2064),
    (0x2066, 0x206F),
    (0xFEFF, 0xFEFF),
    (0xFFF9, 0xFFFB),
    (0x110BD, 0x110BD),
    (0x110CD, 0x110CD),
    (0x13430, 0x1343F),
    (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A),
    (0xE0001, 0xE0001),
    (0xE0020, 0xE007F),
];

/// Default_Ignorable_Code_Point beyond Cf, separators, private use, noncharacters of the BMP.
const OTHERS: &[(u32, u32)] = &[
    (0x80, 0x9F),
    (0x34F, 0x34F),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x2028, 0x2029),
    (0x2065, 0x2065),
    (0x3164, 0x3164),
    (0xE000, 0xF8FF),
    (0xFDD0, 0xFDEF),
    (0xFE00, 0xFE0F),
    (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFF8),
    (0xFFFE, 0xFFFF),
    (0x1FFFE, 0x1FFFF),
    (0xE0000, 0xE0FFF),
    (0xF0000, 0xFFFFD),
    (0x100000, 0x10FFFF),
];

fn forbidden(c: char) -> bool {
    let code = u32::from(c);
    c.is_control()
        || code & 0xFFFE == 0xFFFE
        || CF.iter().chain(OTHERS).any(|&(first, last)| (first..=last).contains(&code))
}

#[test]
fn c0_and_del_become_control_pictures() {
    for code in 0..0x20u32 {
        let c = char::from_u32(code).unwrap();
        let picture = char::from_u32(0x2400 + code).unwrap();
        assert_eq!(reveal(&format!("a{c}b")).as_str(), format!("a{picture}b"), "U+{code:04X}");
    }
    assert_eq!(reveal("a\x7fb").as_str(), "a␡b");
    assert_eq!(reveal("\x1b\x07\r").as_str(), "␛␇␍");
    assert_eq!(reveal("\x1b\x07\r").hidden(), 3);
}

#[test]
fn newline_and_tab_are_pictures_and_not_counted_as_hidden() {
    let shown = reveal("a\n\tb");
    assert_eq!((shown.as_str(), shown.hidden()), ("a␊␉b", 0));
}

#[test]
fn every_listed_character_is_written_out() {
    for &(first, last) in CF.iter().chain(OTHERS) {
        for code in first..=last {
            let Some(c) = char::from_u32(code) else { continue };
            let shown = reveal(&format!("a{c}b")).into_owned();
            assert_eq!(shown.as_str(), format!("a<U+{code:04X}>b"));
            assert_eq!(shown.hidden(), 1);
        }
    }
}

#[test]
fn nothing_else_is_written_out() {
    for c in ('\u{20}'..=char::MAX).filter(|&c| c != '\x7f') {
        if !forbidden(c) {
            let text = format!("a{c}");
            assert_eq!(reveal(&text).as_str(), text, "U+{:04X}", u32::from(c));
        }
    }
}

#[test]
fn terminal_sequences_are_defused() {
    let table = [
        ("\x1b]52;c;cm0gLXJm\x07", "␛]52;c;cm0gLXJm␇"),
        ("\x1b]8;;http://evil\x1b\\ok\x1b]8;;\x1b\\", "␛]8;;http://evil␛\\ok␛]8;;␛\\"),
        ("\x1bP1$r0m\x1b\\", "␛P1$r0m␛\\"),
        ("\x1b[2J\x1b[31m", "␛[2J␛[31m"),
        ("\u{9b}2J\u{9d}0;t\u{9c}\u{90}q", "<U+009B>2J<U+009D>0;t<U+009C><U+0090>q"),
        ("\x1b_G\x1b\\\x1b^p\x1b\\\x1bXs", "␛_G␛\\␛^p␛\\␛Xs"),
        ("safe\x08\x08\x08\x08evil\rX", "safe␈␈␈␈evil␍X"),
        ("\u{202e}fdp.exe", "<U+202E>fdp.exe"),
        ("pass\u{200b}word", "pass<U+200B>word"),
        ("hi\u{e0041}\u{e007f}", "hi<U+E0041><U+E007F>"),
        ("👩\u{200d}💻", "👩<U+200D>💻"),
        ("❤\u{fe0f}", "❤<U+FE0F>"),
    ];
    for (text, shown) in table {
        assert_eq!(reveal(text).as_str(), shown);
    }
}

#[test]
fn plain_text_is_borrowed() {
    for text in ["", "plain", "naïve Grüße", "日本語", "e\u{301}", "\u{fffd}", "שלום", "नमस्ते", "😀"]
    {
        assert!(matches!(reveal(text).into_cow(), Cow::Borrowed(_)), "{text}");
    }
}

#[test]
fn marks_are_bounded_and_need_a_base() {
    let mark = "\u{301}";
    assert_eq!(reveal(&format!("e{}", mark.repeat(8))).hidden(), 0);
    let shown = reveal(&format!("e{}x", mark.repeat(10))).into_owned();
    assert_eq!(shown.as_str(), format!("e{}<U+0301><U+0301>x", mark.repeat(8)));
    assert_eq!(reveal("\u{301}e").as_str(), "<U+0301>e");
}

#[test]
fn lines_are_split_and_tabs_expanded_by_column() {
    let lines: Vec<String> =
        reveal_lines("a\tb\n\tc\n日本\td\r\n\u{301}").map(|line| line.to_string()).collect();
    assert_eq!(lines, ["a       b", "        c", "日本    d␍", "<U+0301>"]);
    assert_eq!(reveal_lines("").count(), 1);
}

#[test]
fn untrusted_is_never_printed_raw_and_keeps_its_bytes() {
    let text = Untrusted::new("\x1b[31m\u{202e}x");
    assert_eq!(text.raw(), "\x1b[31m\u{202e}x");
    assert_eq!(format!("{text:?}"), "Untrusted(\"␛[31m<U+202E>x\")");
    assert_eq!(serde_json::to_string(&text).unwrap(), "\"\\u001b[31m\u{202e}x\"");
    assert_eq!(text.reveal().to_string(), "␛[31m<U+202E>x");
}

#[test]
fn clipping_keeps_characters_whole() {
    let table = [
        ("hello", 5, "hello", false),
        ("hello", 4, "hel…", true),
        ("hello", 1, "…", true),
        ("hello", 0, "", true),
        ("", 0, "", false),
        ("日本語", 6, "日本語", false),
        ("日本語", 5, "日本…", true),
        ("日本語", 4, "日…", true),
        ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…", true),
        ("👍🏽👍🏽", 4, "👍🏽👍🏽", false),
        ("👍🏽👍🏽", 3, "👍🏽…", true),
        ("a\x1bb", 3, "a␛b", false),
    ];
    for (text, width, shown, more) in table {
        let clipped = clip(text, width);
        assert_eq!((clipped.text.as_str(), clipped.more), (shown, more), "{text:?} in {width}");
    }
}

#[test]
fn clipping_reads_only_what_it_shows() {
    let text = "x".repeat(20 << 20);
    let clipped = clip(&text, 10);
    assert_eq!((clipped.text.as_str(), clipped.more), ("xxxxxxxxx…", true));
    let marks = format!("e{}", "\u{301}".repeat(1 << 20));
    assert!(clip(&marks, 10).more);
}

#[test]
fn mixed_scripts_are_named() {
    let cyrillic = mixed_script_warning("please open pаypal.com now").unwrap();
    assert_eq!((cyrillic.first, cyrillic.other, cyrillic.letter), (Script::Latin, Script::Cyrillic, 'а'));
    assert_eq!(cyrillic.to_string(), "\"pаypal\" mixes Latin and Cyrillic letters: а is U+0430");
    assert_eq!(mixed_script_warning("gοοgle").map(|mixed| mixed.other), Some(Script::Greek));
    assert_eq!(mixed_script_warning("task_а1").map(|mixed| mixed.letter), Some('а'));
    for text in
        ["", "plain", "Привет мир", "api-ключ", "5μs 10kΩ", "日本語text", "Straße naïve", "Αθήνα", "α β"]
    {
        assert_eq!(mixed_script_warning(text), None, "{text}");
    }
}

proptest! {
    #[test]
    fn plain_text_is_cut_as_it_stands(text in "[ -~]{0,60}", width in 0usize..70) {
        let cut = clip(&text, width);
        let expected = match width {
            _ if text.len() <= width => text.clone(),
            0 => String::new(),
            _ => format!("{}…", &text[..width - 1]),
        };
        prop_assert_eq!(cut.text.as_str(), expected);
        prop_assert_eq!((cut.more, cells(&cut.text)), (text.len() > width, text.len().min(width)));
    }

    #[test]
    fn a_mark_behind_the_cut_goes_with_its_base(text in "[a-z]{1,20}", width in 1usize..20) {
        prop_assume!(text.len() >= width);
        let marked = format!("{}\u{301}{}", &text[..width], &text[width..]);
        let cut = clip(&marked, width);
        let whole = text.len() == width;
        prop_assert_eq!(cut.more, !whole);
        prop_assert_eq!(cells(&cut.text), width);
        prop_assert_eq!(cut.text.as_str().contains('\u{301}'), whole);
    }

    #[test]
    fn revealed_text_is_harmless_and_stable(text in any::<String>()) {
        let once = reveal(&text).into_owned();
        prop_assert!(!once.as_str().chars().any(forbidden), "{:?}", once);
        let twice = reveal(once.as_str());
        prop_assert_eq!(twice.as_str(), once.as_str());
        prop_assert_eq!(twice.hidden(), 0);
    }

    #[test]
    fn hostile_text_is_harmless_and_stable(text in "[a\u{0}-\u{ff}\u{200b}-\u{206f}\u{300}-\u{310}\u{fe00}-\u{fe0f}\u{e0000}-\u{e01ff}]{0,80}") {
        let once = reveal(&text).into_owned();
        prop_assert!(!once.as_str().chars().any(forbidden));
        let twice = reveal(once.as_str()).into_owned();
        prop_assert_eq!(twice.as_str(), once.as_str());
        for line in reveal_lines(&text) {
            prop_assert!(!line.as_str().chars().any(forbidden));
        }
    }

    #[test]
    fn a_clip_fits(text in any::<String>(), width in 0usize..40) {
        let clipped = clip(&text, width);
        prop_assert!(cells(&clipped.text) <= width);
        prop_assert!(!clipped.text.as_str().chars().any(forbidden));
        if !clipped.more {
            prop_assert_eq!(clipped.text, reveal(&text));
        }
    }

    #[test]
    fn the_warning_never_panics(text in any::<String>()) {
        let _ = mixed_script_warning(&text);
    }
}

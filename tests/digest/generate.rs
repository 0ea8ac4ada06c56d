//! A seeded maker of JSON texts: awkward numbers, any character, any spelling, objects in any order.

/// SplitMix64: the same texts on every machine for a seed.
pub struct Maker(pub u64);

impl Maker {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    pub fn text(&mut self) -> String {
        let mut text = String::new();
        self.value(&mut text, 6);
        text
    }

    fn value(&mut self, text: &mut String, depth: u64) {
        self.space(text);
        match self.below(if depth == 0 { 5 } else { 9 }) {
            0 => text.push_str(["null", "true", "false"][self.below(3) as usize]),
            1 | 2 => self.number(text),
            3 | 4 => self.string(text, None),
            5 | 6 => {
                text.push('[');
                for index in 0..self.below(6) {
                    if index > 0 {
                        text.push(',');
                    }
                    self.value(text, depth - 1);
                }
                self.space(text);
                text.push(']');
            }
            _ => self.object(text, depth),
        }
        self.space(text);
    }

    fn object(&mut self, text: &mut String, depth: u64) {
        text.push('{');
        let sorted = self.below(3) == 0;
        for index in 0..self.below(7) {
            if index > 0 {
                text.push(',');
            }
            self.space(text);
            // The index makes names differ; where it stands decides whether they come sorted.
            self.string(text, Some((index, sorted)));
            self.space(text);
            text.push(':');
            self.value(text, depth - 1);
        }
        self.space(text);
        text.push('}');
    }

    fn space(&mut self, text: &mut String) {
        if self.below(6) == 0 {
            text.push_str([" ", "\n  ", "\t", "\r\n", "  "][self.below(5) as usize]);
        }
    }

    fn number(&mut self, text: &mut String) {
        let number = match self.below(9) {
            0 => self.below(200).to_string(),
            1 => format!("-{}", self.next() >> self.below(64)),
            2 => ["0", "-0", "0.0", "-0.0", "1.0", "1E2", "0e7", "100.250", "1e22"][self.below(9) as usize]
                .into(),
            3 => format!("{}.{}", self.below(1000), self.below(100_000)),
            4 => format!("{}{:03}e{}", self.below(10), self.below(1000), self.below(40))
                .trim_start_matches('0')
                .into(),
            5 => format!("0.{}{}", "0".repeat(self.below(12) as usize), self.next()),
            6 => format!("{:e}", self.double()),
            7 => format!("{:?}", self.double()),
            _ => format!("{:.16e}", self.double()),
        };
        text.push_str(if number.starts_with('e') { "7" } else { &number });
    }

    /// Any finite double, by its bits.
    pub fn double(&mut self) -> f64 {
        loop {
            let value = f64::from_bits(self.next());
            if value.is_finite() {
                return value;
            }
        }
    }

    fn string(&mut self, text: &mut String, name: Option<(u64, bool)>) {
        text.push('"');
        if let Some((index, true)) = name {
            text.push_str(&index.to_string());
        }
        for _ in 0..self.below(12) {
            let limit = [0x80, 0x80, 0x80, 0x800, 0x1_0000, 0x11_0000][self.below(6) as usize];
            let char = char::from_u32(self.below(limit) as u32).unwrap_or('\u{ffff}');
            match (char, self.below(8)) {
                ('"' | '\\' | '/', 0..4) => text.extend(['\\', char]),
                ('\n', 0..4) => text.push_str("\\n"),
                ('\0'..' ' | '"' | '\\', _) | (_, 0) => {
                    let upper = self.below(2) == 0;
                    for unit in char.encode_utf16(&mut [0; 2]) {
                        text.push_str(&if upper {
                            format!("\\u{unit:04X}")
                        } else {
                            format!("\\u{unit:04x}")
                        });
                    }
                }
                _ => text.push(char),
            }
        }
        if let Some((index, false)) = name {
            text.push_str(&index.to_string());
        }
        text.push('"');
    }
}

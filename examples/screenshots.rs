//! Makes every picture in `screenshots/` from the program's own frames, over the demo's story at a fixed moment.
//!
//! `cargo run --features pictures --example screenshots` writes SVG and PNG; `-- --check` says which are stale.
#![expect(clippy::print_stdout, reason = "a tool for people at a terminal")]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use resvg::{tiny_skia, usvg};
use tribunal::coordinator::Coordinator;
use tribunal::domain::ids::Timestamp;
use tribunal::tui::screens::docket::Docket;
use tribunal::tui::testing::Script;
use tribunal::tui::theme::Depth;

/// Each picture: its name, and the keys that lead there from the docket.
const PICTURES: &[(&str, &[&str])] = &[
    ("docket", &["jjj"]),
    ("filter", &["/", "state:needs_review age>1h"]),
    ("case", &["/", "task:T-20<enter>", "<enter>", "n"]),
    ("three-sides", &["/", "task:T-21<enter>", "<enter>", "n"]),
    ("hostile", &["/", "task:T-66<enter>", "<enter>", "n"]),
    ("decision", &["/", "task:T-20<enter>", "<enter>", "d"]),
    ("answer", &["/", "task:T-31<enter>", "a"]),
    ("timeline", &["/", "task:PAY-118<enter>", "t"]),
    ("approvals", &["A"]),
    ("quarantine", &["Q"]),
    ("help", &["?"]),
    ("palette", &[":", "time"]),
];
const THEMES: &[(&str, &str)] = &[("dark", "default-dark"), ("light", "default-light")];
const SIZE: (u16, u16) = (120, 36);

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<()> {
    let check = std::env::args().any(|a| a == "--check");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("screenshots");
    let place = tempfile::tempdir().context("a place for the store")?;
    let now = Timestamp::parse("2026-11-30T12:04:31Z").context("the moment of the pictures")?;
    let coordinator = tribunal::cli::stage(place.path(), now).await?;
    let mut stale = Vec::new();
    for (name, steps) in PICTURES {
        for (short, theme) in THEMES {
            let svg = picture(&coordinator, steps, theme).await;
            let path = folder.join(format!("{name}-{short}.svg"));
            if check {
                let kept = std::fs::read_to_string(&path).unwrap_or_default();
                if blurred(&kept) != blurred(&svg) {
                    stale.push(path);
                }
            } else {
                write(&path, &svg)?;
            }
        }
    }
    if !stale.is_empty() {
        bail!("stale, run `cargo run --features pictures --example screenshots`: {stale:?}");
    }
    println!("{} pictures {}", PICTURES.len() * THEMES.len(), if check { "are fresh" } else { "made" });
    Ok(())
}

async fn picture(coordinator: &Arc<dyn Coordinator>, steps: &[&str], theme: &str) -> String {
    let mut script = Script::themed(Docket::new(), SIZE.0, SIZE.1, theme, Depth::True);
    script.settle(coordinator).await;
    for keys in steps {
        script.keys(keys).wait(Duration::from_secs(1));
        script.settle(coordinator).await;
    }
    script.wait(Duration::from_secs(10)).picture()
}

/// Ids and digests of records are made anew with every store: they are left out of the comparison.
fn blurred(svg: &str) -> String {
    let mut out = String::with_capacity(svg.len());
    let mut run = String::new();
    for c in svg.chars().chain(['\n']) {
        if c.is_ascii_hexdigit() || c == '-' {
            run.push(c);
            continue;
        }
        if run.len() >= 6 && run.chars().any(|c| c.is_ascii_digit()) && !out.ends_with('#') {
            out.extend(std::iter::repeat_n('x', run.len()));
        } else {
            out.push_str(&run);
        }
        run.clear();
        out.push(c);
    }
    out
}

fn write(svg_path: &PathBuf, svg: &str) -> Result<()> {
    std::fs::write(svg_path, svg).with_context(|| format!("writing {}", svg_path.display()))?;
    let mut options = usvg::Options::default();
    options.fontdb_mut().load_system_fonts();
    let tree = usvg::Tree::from_str(svg, &options).context("our own picture is no SVG")?;
    let size = tree.size().to_int_size();
    let mut pixels = tiny_skia::Pixmap::new(size.width(), size.height()).context("a picture of no size")?;
    resvg::render(&tree, tiny_skia::Transform::identity(), &mut pixels.as_mut());
    let path = svg_path.with_extension("png");
    pixels.save_png(&path).with_context(|| format!("writing {}", path.display()))
}

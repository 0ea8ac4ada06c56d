//! Parts that screens are made of. They know themes, not screens; what they draw is revealed here or before.

pub mod diff;
pub mod form;
pub mod ink;
pub mod input;
pub mod list;
pub mod moment;
pub mod pager;
pub mod status;
pub mod table;

use ratatui::layout::Rect;

/// The middle of `area`, at most this large: where a popup stands.
pub fn centred(area: Rect, width: u16, height: u16) -> Rect {
    let (width, height) = (width.min(area.width), height.min(area.height));
    let x = area.x.saturating_add((area.width - width) / 2);
    let y = area.y.saturating_add((area.height - height) / 2);
    Rect { x, y, width, height }
}

//! The progress bar: on standard error, hidden when that is not a terminal.

use indicatif::{ProgressBar, ProgressStyle};

/// A bar over `length` steps of something called `name`.
pub fn bar(name: &str, length: u64) -> ProgressBar {
    let bar = ProgressBar::new(length).with_prefix(name.to_owned());
    let template = "{prefix} {bar:28.cyan/dim} {pos}/{len}  {msg}  {eta} left";
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("━╸─"));
    }
    bar
}

//! The measurements as tables, and what follows from them.

use super::cell::Cell;
use crate::text::{number, table};
use std::fmt::Write;

/// One table per scene: methods down, sizes across.
pub fn tables(cells: &[Cell]) -> String {
    let mut text = String::new();
    for scene in distinct(cells.iter().map(|cell| cell.scene)) {
        let here: Vec<&Cell> = cells.iter().filter(|cell| cell.scene == scene).collect();
        let sizes = distinct(here.iter().map(|cell| cell.size));
        let mut head = vec!["method".to_owned()];
        head.extend(sizes.iter().map(|size| format!("{size}²")));
        head.extend(["160²:80²".into(), "320²:80²".into(), "bytes/particle".into()]);
        let mut rows = vec![head];
        for method in distinct(here.iter().map(|cell| cell.method)) {
            let at = |size: usize| {
                here.iter().copied().find(|cell| cell.method == method && cell.size == size)
            };
            let mut row = vec![method.to_owned()];
            row.extend(sizes.iter().map(|size| at(*size).map_or("–".into(), time)));
            for large in [160, 320] {
                let times = at(large).and_then(Cell::fastest).zip(at(80).and_then(Cell::fastest));
                row.push(times.map_or("–".into(), |(large, small)| number(large / small)));
            }
            let largest = here.iter().rev().find(|cell| cell.method == method && cell.bytes > 0);
            row.push(largest.map_or("–".into(), |c| (c.bytes / c.particles).to_string()));
            rows.push(row);
        }
        let _ = write!(
            text,
            "\n{scene}: ms per step, the fastest (the median)\n\n{}",
            table(&rows, |column| column > 0)
        );
    }
    let skipped = cells.iter().filter_map(|cell| {
        let reason = cell.skipped.as_ref()?;
        Some(format!("skipped {}/{}/{}: {reason}\n", cell.scene, cell.size, cell.method))
    });
    text.push_str(&skipped.collect::<String>());
    text
}

fn time(cell: &Cell) -> String {
    match cell.ms_per_step {
        Some(times) => format!("{} ({})", number(times.min), number(times.median)),
        None => "skipped".into(),
    }
}

/// What limits a step, from the numbers measured.
pub fn facts(cells: &[Cell]) -> String {
    let mut text = String::new();
    for scene in distinct(cells.iter().map(|cell| cell.scene)) {
        let find = |method: &str, size: usize| {
            cells.iter().find(|c| c.scene == scene && c.method == method && c.size == size)
        };
        for size in distinct(cells.iter().map(|cell| cell.size)) {
            let Some(explicit) = find("symplectic-euler", size) else { continue };
            let Some(ms) = explicit.fastest() else { continue };
            let rate = explicit.springs as f64 / ms / 1e3;
            let _ = write!(
                text,
                "{scene} {size}²: symplectic Euler evaluates {} million springs per second",
                number(rate)
            );
            if let Some(kim) = find("kim-2006", size).and_then(Cell::fastest) {
                let _ =
                    write!(text, "; a Kim step with η = 6 costs {} of its steps", number(kim / ms));
                if let Some(implicit) = find("choi-ko-2002", size).and_then(Cell::fastest) {
                    let ratio = number(implicit / kim);
                    let _ = write!(text, ", a Choi & Ko step {ratio} Kim steps");
                }
            }
            text.push_str(".\n");
        }
    }
    if let Some(limit) = limit(cells) {
        text.push_str(&limit);
    }
    if text.is_empty() { text } else { format!("\n{text}") }
}

/// Two sentences on memory traffic, at the largest size where a cheap and a costly step are known.
fn limit(cells: &[Cell]) -> Option<String> {
    let explicit = (cells.iter().rev())
        .find(|cell| cell.method == "symplectic-euler" && cell.ms_per_step.is_some())?;
    let ms = explicit.fastest()?;
    let megabytes = explicit.bytes as f64 / 1e6;
    let per_spring = explicit.bytes as f64 / explicit.springs.max(1) as f64;
    let mut text = format!(
        "What limits it: {} {}² takes {} MB, {} bytes per spring; a symplectic step that read each of \
         them once would move {} GB/s.",
        explicit.scene,
        explicit.size,
        number(megabytes),
        number(per_spring),
        number(megabytes / ms)
    );
    let small = (cells.iter())
        .find(|c| c.method == explicit.method && c.scene == explicit.scene && c.bytes > 0)?;
    if small.size < explicit.size {
        let each = |cell: &Cell| Some(1e6 * cell.fastest()? / cell.springs.max(1) as f64);
        let _ = write!(
            text,
            " A spring costs {} ns at {}² and {} ns at {}².",
            number(each(small)?),
            small.size,
            number(each(explicit)?),
            explicit.size
        );
    }
    text.push('\n');
    Some(text)
}

/// The distinct values, in the order they come.
fn distinct<T: PartialEq + Copy>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = Vec::new();
    for value in values {
        if !seen.contains(&value) {
            seen.push(value);
        }
    }
    seen
}

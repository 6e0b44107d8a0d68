//! Aligned tables and numbers for people, and a way to print them.

use std::io::Write;

/// Prints to standard output. A reader that went away (`muslin list | head`) is no error.
pub fn print(text: &str) {
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
}

/// Columns padded to the widest entry; `right` says which ones are aligned to the right.
pub fn table(rows: &[Vec<String>], right: impl Fn(usize) -> bool) -> String {
    let width = |text: &str| text.chars().count();
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns)
        .map(|c| rows.iter().filter_map(|row| row.get(c)).map(|t| width(t)).max().unwrap_or(0))
        .collect();
    let mut out = String::new();
    for row in rows {
        let cells = row.iter().enumerate().map(|(c, text)| {
            let pad = " ".repeat(widths[c] - width(text));
            if right(c) { pad + text } else { text.clone() + &pad }
        });
        out.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        out.push('\n');
    }
    out
}

/// A number with three significant digits, plain where that is readable.
pub fn number(value: f64) -> String {
    let size = value.abs();
    if !value.is_finite() {
        value.to_string()
    } else if size == 0.0 {
        "0".into()
    } else if !(1e-3..1e5).contains(&size) {
        format!("{value:.2e}")
    } else {
        let digits = (2.0 - size.log10().floor()).clamp(0.0, 5.0) as usize;
        format!("{value:.digits$}")
    }
}

/// A share as a percentage.
pub fn percent(share: f64) -> String {
    format!("{} %", number(100.0 * share))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_three_digits() {
        assert_eq!(number(0.0), "0");
        assert_eq!(number(12.345), "12.3");
        assert_eq!(number(-0.012345), "-0.0123");
        assert_eq!(number(123456.0), "1.23e5");
    }

    #[test]
    fn tables_align() {
        let rows = [vec!["a".into(), "1".into()], vec!["bc".into(), "22".into()]];
        assert_eq!(table(&rows, |c| c == 1), "a    1\nbc  22\n");
    }
}

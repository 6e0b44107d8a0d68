//! What self-contained pages are made of: the style in light and dark, tables, plots, embedded pictures.

pub mod plot;
pub mod raster;

use crate::machine::Machine;
use std::fmt::Write;

/// The colours, light and dark.
const COLOURS: &str = "
:root { color-scheme: light dark; --ink: #1f2733; --faint: #6b7785; --line: #dde3ea; --paper: #fbfaf8;
  --c0: #c4473c; --c1: #1f7f8c; --c2: #b97f10; --c3: #4f5bab; --c4: #4f8a3c; --c5: #b1588a; --c6: #7a6255; --c7: #3a86bd; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ee; --faint: #98a3b1; --line: #323a45; --paper: #161a20;
  --c0: #f0776b; --c1: #4fc0cd; --c2: #f0bd5c; --c3: #8d99ea; --c4: #8fce78; --c5: #e794c3; --c6: #c4a797; --c7: #7cc0ef; } }
";

const STYLE: &str = "
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 1320px; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin: 0 0 .2rem; } h2 { font-size: 1.1rem; margin: 1.8rem 0 .6rem; } li { color: var(--faint); max-width: 70rem; } b { color: var(--ink); font-weight: 600; } p { color: var(--faint); max-width: 70rem; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .35rem .8rem; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }
th:first-child, td:first-child { text-align: left; } th { color: var(--faint); font-weight: 500; }
svg { width: 100%; height: auto; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 480px), 1fr)); gap: 1rem; }
.legend span { display: inline-block; margin-right: 1.2rem; } .legend i { display: inline-block; width: .9em; height: .9em; border-radius: 50%; margin-right: .4em; vertical-align: -.1em; }
.pictures { display: grid; grid-template-columns: repeat(auto-fill, minmax(260px, 1fr)); gap: 1rem; }
figure { margin: 0; } figure img { display: block; width: 100%; margin-bottom: .35rem; border-radius: 8px; } figcaption { color: var(--faint); }
";

/// What plots look like, on a page and alone.
const DRAWING: &str = "
svg text { fill: var(--ink); font-size: 12px; } svg .title { font-size: 14px; font-weight: 600; }
svg .tick, svg .axis { fill: var(--faint); } svg .grid { stroke: var(--line); } polyline { fill: none; stroke-width: 1.8; stroke-linejoin: round; }
";

/// Everything before the content of a page; `style` adds to what all pages share.
pub fn head(title: &str, style: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <link rel=\"icon\" href=\"data:,\"><title>{}</title><style>{COLOURS}{STYLE}{DRAWING}{}{style}</style></head><body>\n",
        escape(title),
        colours()
    )
}

/// Rules that give series their colours.
fn colours() -> String {
    (0..8)
        .map(|i| format!("polyline.s{i} {{ stroke: var(--c{i}); }} circle.s{i}, .legend .s{i} {{ fill: var(--c{i}); background: var(--c{i}); }}\n"))
        .collect()
}

/// An SVG element as a file of its own, on white by day.
pub fn standalone(svg: &str) -> String {
    let style = format!(
        "{COLOURS}{DRAWING}{} text {{ font-family: system-ui, sans-serif; }} svg {{ background: var(--paper); }}",
        colours()
    );
    alone(svg, &style)
}

/// The same for programs that know no variables of style sheets: in the light colours.
pub fn standalone_light(svg: &str) -> String {
    let mut style = format!("{DRAWING}{}", colours());
    let light = COLOURS.split(['{', '}']).nth(1).unwrap_or_default();
    for (name, value) in light.split(';').filter_map(|pair| pair.split_once(':')) {
        style = style.replace(&format!("var({})", name.trim()), value.trim());
    }
    alone(svg, &style)
}

/// The element with a name space, a size in pixels and a style.
fn alone(svg: &str, style: &str) -> String {
    let (tag, rest) = svg.split_once('>').unwrap_or((svg, ""));
    let size = tag.split("viewBox=\"0 0 ").nth(1).and_then(|rest| rest.split('"').next());
    let size = size.and_then(|size| size.split_once(' ')).unwrap_or(("620", "320"));
    let pixels = |text: &str| 1.5 * text.parse::<f64>().unwrap_or(320.0);
    let (width, height) = (pixels(size.0), pixels(size.1));
    let opening =
        format!("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" ");
    format!("{}><style>{style}</style>{rest}\n", tag.replacen("<svg ", &opening, 1))
}

/// Version and machine, in a sentence.
pub fn where_measured() -> String {
    let machine = Machine::this();
    let processor = machine.processor.unwrap_or(machine.system);
    format!("Muslin {}, on {processor}.", env!("CARGO_PKG_VERSION"))
}

/// A table whose first row is its head.
pub fn table(rows: &[Vec<String>]) -> String {
    let mut html = String::from("<div class=\"wide\"><table>\n");
    for (index, row) in rows.iter().enumerate() {
        let tag = if index == 0 { "th" } else { "td" };
        let cells: String = row.iter().map(|c| format!("<{tag}>{}</{tag}>", escape(c))).collect();
        let _ = writeln!(html, "<tr>{cells}</tr>");
    }
    html.push_str("</table></div>\n");
    html
}

/// Names of series in their colours.
pub fn legend<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut html = String::from("<p class=\"legend\">");
    for (index, name) in names.enumerate() {
        let _ = write!(html, "<span><i class=\"s{}\"></i>{}</span>", index % 8, escape(name));
    }
    html.push_str("</p>\n");
    html
}

/// Text for SVG and HTML.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A PNG file as an address that needs no file.
pub fn data_uri(png: &[u8]) -> String {
    format!("data:image/png;base64,{}", base64(png))
}

/// Bytes as base 64.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |i: usize| u32::from(chunk.get(i).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4 {
            let index = bits >> (18 - 6 * digit) & 63;
            let is_data = digit <= chunk.len();
            text.push(if is_data { char::from(DIGITS[index as usize]) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn base64_pads() {
        let cases =
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")];
        for (bytes, text) in cases {
            assert_eq!(super::base64(bytes.as_bytes()), text);
        }
    }
}

//! The page of a reproduction: one file, nothing to fetch, in light and dark, to be read or printed.

use super::finding::{Check, Finding, Verdict};
use super::lab::Experiment;
use super::store::name;
use super::{Outcome, PAPERS, words};
use crate::page::{data_uri, escape, head, table, where_measured};
use crate::picture::STRAIN_SCALE;
use crate::text::number;
use std::fmt::Write;

const STYLE: &str = "
:root { --good: #2c7a3f; --part: #a56a00; --bad: #b3362c; --card: #ffffff; }
@media (prefers-color-scheme: dark) { :root { --good: #7fce8f; --part: #efb955; --bad: #f28b80; --card: #1c2129; } }
body { max-width: 1080px; } h1 { font-size: 1.8rem; } h2 { font-size: 1.35rem; margin-top: 3rem; } h3 { font-size: 1.12rem; margin: 0 0 .3rem; } h4 { font-size: .95rem; margin: 1.2rem 0 .3rem; }
p, li { color: var(--ink); } .faint, .faint li, caption { color: var(--faint); } a { color: inherit; }
article { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 1.1rem 1.3rem; margin: 1.2rem 0; }
.verdict { display: inline-block; font-size: .85rem; font-weight: 600; padding: .1rem .6rem; border-radius: 1rem; border: 1px solid currentColor; white-space: nowrap; }
.holds { color: var(--good); } .holds-with-a-condition { color: var(--part); } .does-not-hold { color: var(--bad); }
blockquote { margin: .5rem 0; padding-left: .9rem; border-left: 3px solid var(--line); max-width: 60rem; }
caption { text-align: left; padding: .2rem 0; } td { font-size: .92rem; } .rule td:first-child, .overview td { white-space: normal; } .overview td, .overview th { text-align: left; } .words td:nth-child(2) { white-space: nowrap; }
.met { color: var(--good); } .unmet { color: var(--bad); } figure { margin: .8rem 0; } figcaption { font-size: .92rem; } figure img { width: auto; max-width: 100%; }
.plots svg { max-width: 600px; } .plots { grid-template-columns: repeat(auto-fit, minmax(min(100%, 430px), 1fr)); } .scale { display: inline-block; width: 12em; height: .8em; border-radius: .4em; vertical-align: -.05em; }
details { margin: .4rem 0; } summary { cursor: pointer; color: var(--faint); }
@media (max-width: 600px) { article { padding: .8rem; } body { margin: 1rem auto; padding: 0 .6rem; } th, td { padding: .3rem .5rem; } }
@media print { body { max-width: none; font-size: 11px; } article { border: 0; padding: 0; break-inside: auto; } figure, table, svg, h3, .rule { break-inside: avoid; } .wide { overflow: visible; } th, td { padding: .2rem .4rem; } }
";

/// The page.
pub fn page(outcomes: &[Outcome], quick: bool, when: &str) -> String {
    let mut html = head("What of the papers holds: measured with Muslin", STYLE);
    html.push_str("<h1>What of the papers holds</h1>\n");
    let length = if quick {
        " This is a quick run: grids are smaller and runs shorter than in the papers."
    } else {
        ""
    };
    let _ = writeln!(
        html,
        "<p>Five papers on real-time cloth, their tables and figures measured again with \
         one engine. Every verdict below is computed from the measurements of this run by \
         the rule printed beside it; <a href=\"#words\">what the papers' words are taken for</a> is at \
         the end.{length}</p>\n<p class=\"faint\">{} {when}. Times \
         depend on the machine and on what else it does; ratios of times were measured in \
         turn within this run. Repeat it with <code>muslin reproduce all --out \
         DIR</code>.</p>",
        escape(&where_measured())
    );
    html.push_str(&overview(outcomes));
    let colours: Vec<String> =
        STRAIN_SCALE.iter().map(|[r, g, b]| format!("rgb({r} {g} {b})")).collect();
    let _ = writeln!(
        html,
        "<p class=\"faint\">Where a picture is coloured by strain: none <span \
         class=\"scale\" style=\"background: linear-gradient(90deg, {})\"></span> the \
         strain named in its caption, or more.</p>",
        colours.join(", ")
    );
    for paper in PAPERS {
        let mut own = outcomes.iter().filter(|o| o.paper.authors == paper.authors).peekable();
        if own.peek().is_some() {
            let _ = writeln!(
                html,
                "<h2 id=\"{}\">{}: <em>{}</em></h2>",
                paper.name.word(),
                paper.authors,
                paper.title
            );
            own.for_each(|outcome| html.push_str(&article(outcome)));
        }
    }
    html.push_str(&glossary(outcomes));
    html.push_str("</body></html>\n");
    html
}

fn badge(verdict: Verdict) -> String {
    let words = verdict.words();
    let class = words.replace(' ', "-");
    format!("<span class=\"verdict {class}\">{words}</span>")
}

/// Every experiment in a line.
fn overview(outcomes: &[Outcome]) -> String {
    let mut html = String::from("<p>");
    for verdict in [Verdict::Holds, Verdict::HoldsWithACondition, Verdict::DoesNotHold] {
        let count = outcomes.iter().filter(|o| o.finding.verdict() == verdict).count();
        if count > 0 {
            let _ = write!(html, "{count} {} &ensp;", badge(verdict));
        }
    }
    html.push_str(
        "</p>\n<div class=\"wide\"><table \
         class=\"overview\">\n<tr><th>paper</th><th>experiment</th><th>verdict</th></tr>\n",
    );
    for Outcome { paper, experiment, finding, .. } in outcomes {
        let _ = writeln!(
            html,
            "<tr><td>{}</td><td><a href=\"#{}\">{}</a></td><td>{}</td></tr>",
            escape(paper.authors),
            experiment.id,
            escape(experiment.title),
            badge(finding.verdict())
        );
    }
    html.push_str("</table></div>\n");
    html
}

fn article(outcome: &Outcome) -> String {
    let Outcome { experiment, finding, seconds, .. } = outcome;
    let mut html = format!(
        "<article id=\"{}\">\n<h3>{}</h3>\n{}\n<blockquote>{}</blockquote>\n",
        experiment.id,
        escape(experiment.title),
        badge(finding.verdict()),
        escape(experiment.claim)
    );
    let _ = writeln!(html, "<p><b>Why.</b> {}</p>", escape(&finding.why()));
    html.push_str(&media(experiment, finding));
    html.push_str(&rule(finding));
    html.push_str("<h4>Setup and assumptions</h4>\n<ul class=\"faint\">\n");
    for line in experiment.setup {
        let _ = writeln!(html, "<li>{}</li>", escape(line));
    }
    let _ =
        writeln!(html, "</ul>\n<p class=\"faint\">Took {} s.</p>\n</article>", number(*seconds));
    html
}

/// Pictures, plots and tables.
fn media(experiment: &Experiment, finding: &Finding) -> String {
    let mut html = String::new();
    for (index, picture) in finding.pictures.iter().enumerate() {
        let caption = escape(&picture.caption);
        let file = format!("{}/{}", experiment.id, name("picture", index, "png"));
        let _ = writeln!(
            html,
            "<figure><img alt=\"{caption}\" title=\"{file}\" \
             src=\"{}\"><figcaption>{caption}</figcaption></figure>",
            data_uri(&picture.png)
        );
    }
    if !finding.figures.is_empty() {
        let plots: Vec<&str> = finding.figures.iter().map(|figure| figure.svg.as_str()).collect();
        let _ = writeln!(html, "<div class=\"plots\">\n{}\n</div>", plots.join("\n"));
    }
    for data in &finding.tables {
        let caption = format!("<table>\n<caption>{}</caption>", data.html_caption());
        html.push_str(&table(&data.rows).replacen("<table>", &caption, 1));
    }
    html
}

/// The checks, as they were evaluated.
fn rule(finding: &Finding) -> String {
    let mut html =
        String::from("<h4>The rule</h4>\n<p class=\"faint\">Holds if all of these are met:</p>\n");
    html.push_str(&checks(&finding.claim));
    if let Some(condition) = &finding.condition {
        let text = escape(&condition.text);
        let _ = writeln!(
            html,
            "<p class=\"faint\">Otherwise holds with a condition ({text}) if all of these \
             are:</p>"
        );
        html.push_str(&checks(&condition.checks));
    }
    html
}

/// A word, linked to what it is taken for.
fn meaning(word: &str) -> String {
    if word.is_empty() {
        return String::new();
    }
    format!("<a href=\"#{}\">“{word}”</a>", anchor(word))
}

fn anchor(word: &str) -> String {
    format!("word-{}", word.replace(' ', "-"))
}

/// The words that the rules of these outcomes use, and their numbers.
fn glossary(outcomes: &[Outcome]) -> String {
    let of = |finding: &Finding| {
        let condition = finding.condition.iter().flat_map(|condition| &condition.checks);
        finding.claim.iter().chain(condition).map(|check| check.word.clone()).collect::<Vec<_>>()
    };
    let used: Vec<String> = outcomes.iter().flat_map(|outcome| of(&outcome.finding)).collect();
    let mut html = String::from(
        "<h2 id=\"words\">What the words are taken for</h2>\n<p>A rule needs numbers. Where a paper prints one, that is \
         used; else the number belongs to the word, whatever was measured: what a law makes equal is equal to 1 %, what is similar or \
         slightly more differs by less than half again, what is much more is at least twice as much. Between the two \
         neither word fits.</p>\n<div class=\"wide\"><table \
         class=\"overview words\">\n<tr><th>word</th><th>needed</th><th>taken for</th><th>said</th></tr>\n",
    );
    for word in words::ALL.iter().filter(|word| used.iter().any(|used| used == word.word)) {
        let said = match word.said {
            "" => "our convention".into(),
            said => format!("“{}” ({})", escape(said), escape(word.by)),
        };
        let _ = writeln!(
            html,
            "<tr id=\"{}\"><td>{}</td><td>{}</td><td>{}</td><td>{said}</td></tr>",
            anchor(word.word),
            word.word,
            word.bound(),
            escape(word.means)
        );
    }
    html.push_str("</table></div>\n");
    html
}

fn checks(checks: &[Check]) -> String {
    let mut html = String::from(
        "<div class=\"wide\"><table \
         class=\"rule\"><tr><th>check</th><th>measured</th><th>needed</th><th>for</th><th>met</th></tr>\n",
    );
    for check in checks {
        let (class, word) = if check.is_met() { ("met", "yes") } else { ("unmet", "no") };
        let _ = writeln!(
            html,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td class=\"{class}\">{word}</td></tr>",
            escape(&check.what),
            check.measured(),
            check.bound.text(),
            meaning(&check.word)
        );
    }
    html.push_str("</table></div>\n");
    html
}

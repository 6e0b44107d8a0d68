//! `muslin reproduce`: the verdicts are those that an independent calculation came to, an interrupted run continues, and
//! the page opens in a real browser.

#[path = "../../../muslin-lab/tests/browser/chromium.rs"]
mod chromium;

use crate::support::Folder;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const HOLDS: &str = "holds";
const CONDITION: &str = "holds-with-a-condition";
const FAILS: &str = "does-not-hold";

/// What each experiment must find. Verdicts on times, marked so in the summary, depend on the machine.
const EXPECTED: &[(&str, &str)] = &[
    ("kang-cho-table-4", CONDITION),
    ("kang-cho-figure-2", HOLDS),
    ("kang-cho-figure-4", CONDITION),
    ("kang-cho-figure-5", CONDITION),
    ("kang-cho-figure-5-rate", HOLDS),
    ("kang-cho-sweeps", CONDITION),
    ("kang-cho-stretched", FAILS),
    ("kang-cho-damping", CONDITION),
    ("kim-figure-4", HOLDS),
    ("kim-figure-2", HOLDS),
    ("kim-figure-3", HOLDS),
    ("kim-figure-3-cost", HOLDS),
    ("kim-error", CONDITION),
    ("kim-any-eta", FAILS),
    ("kim-smoothed-jacobian", HOLDS),
    ("kim-in-place", CONDITION),
    ("kim-inertia", CONDITION),
    ("kim-desbrun", FAILS),
    ("moustakas-tables", FAILS),
    ("moustakas-levels", FAILS),
    ("moustakas-filter", FAILS),
    ("moustakas-v-cycle", CONDITION),
    ("rubin-table-1", CONDITION),
    ("rubin-resolution", HOLDS),
    ("rubin-figure-13", HOLDS),
    ("rubin-materials", CONDITION),
    ("rubin-figure-9", FAILS),
    ("rubin-figure-10", HOLDS),
    ("rubin-figure-11", CONDITION),
    ("rubin-figure-12", HOLDS),
    ("rubin-stability", CONDITION),
    ("jeong-figure-2", HOLDS),
    ("jeong-figure-5", HOLDS),
    ("jeong-figure-6", CONDITION),
    ("jeong-figure-7", HOLDS),
    ("jeong-cost", CONDITION),
    ("jeong-energy", CONDITION),
];

/// The verdict that follows from the checks of a summary, by the rule the page states.
fn by_rule(experiment: &Value) -> &'static str {
    let met = |checks: &Value| {
        let checks = checks.as_array().expect("checks");
        !checks.is_empty() && checks.iter().all(|check| check["met"] == true)
    };
    if met(&experiment["claim_checks"]) {
        HOLDS
    } else if !experiment["condition"].is_null() && met(&experiment["condition"]["checks"]) {
        CONDITION
    } else {
        FAILS
    }
}

fn check_verdicts(summary: &Value) {
    let experiments = summary["experiments"].as_array().expect("experiments");
    let names: Vec<&str> = experiments.iter().map(|e| e["id"].as_str().unwrap()).collect();
    assert_eq!(names, EXPECTED.iter().map(|(id, _)| *id).collect::<Vec<_>>());
    for (experiment, (id, expected)) in experiments.iter().zip(EXPECTED) {
        assert_eq!(experiment["verdict"], by_rule(experiment), "{id}");
        let is_possible =
            [HOLDS, CONDITION, FAILS].map(Value::from).contains(&experiment["verdict"]);
        if experiment["timed"] == true {
            assert!(is_possible, "{id}: {}", experiment["verdict"]);
        } else {
            assert_eq!(experiment["verdict"], *expected, "{id}: {experiment:#}");
        }
        check_bounds(experiment, id);
        assert!(experiment["why"].as_str().is_some_and(|why| why.len() > 20), "{id}");
    }
}

/// Whether a measurement meets a bound as the page prints it; the printed bound is rounded, so what is within a
/// thousandth of it may be either.
fn meets(value: f64, needed: &str) -> Option<bool> {
    let number = |text: &str| text.trim().parse::<f64>().expect(needed);
    let near = |bound: f64| (value - bound).abs() <= 5e-3 * bound.abs();
    let (is_met, ends) = if let Some(most) = needed.strip_prefix('≤') {
        (value <= number(most), vec![number(most)])
    } else if let Some(least) = needed.strip_prefix('≥') {
        (value >= number(least), vec![number(least)])
    } else if let Some((least, most)) = needed.split_once(" to ") {
        ((number(least)..=number(most)).contains(&value), vec![number(least), number(most)])
    } else {
        ((value != 0.0) == (needed == "yes"), Vec::new())
    };
    (!ends.into_iter().any(near)).then_some(is_met)
}

/// Every check says by which word its number is needed, and is met if and only if its measurement is within it.
fn check_bounds(experiment: &Value, id: &str) {
    let condition = experiment["condition"]["checks"].as_array().into_iter().flatten();
    let claim = experiment["claim_checks"].as_array().expect("checks");
    for check in claim.iter().chain(condition) {
        let needed = check["needed"].as_str().expect("a bound");
        if !["yes", "no"].contains(&needed) {
            assert!(check["word"].as_str().is_some_and(|word| !word.is_empty()), "{id}: {check}");
        }
        match check["value"].as_f64().map(|value| meets(value, needed)) {
            None => assert_eq!(check["met"], false, "{id}: {check}"),
            Some(None) => {}
            Some(Some(met)) => assert_eq!(check["met"], met, "{id}: {check}"),
        }
    }
}

/// Starts a run and interrupts it once the named experiment is done.
fn interrupt_after(folder: &Folder, words: &str, experiment: &str) {
    let child = folder.command(words).stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
    let child = child.expect("the binary starts");
    let begun = Instant::now();
    while !folder.path().join(experiment).join("finding.json").exists() {
        assert!(begun.elapsed() < Duration::from_secs(300), "{experiment} does not appear");
        std::thread::sleep(Duration::from_millis(5));
    }
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().expect("kill").success());
    let output = child.wait_with_output().expect("the end of the run");
    assert_eq!(output.status.code(), Some(130));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("experiments are done") && said.contains("--out page"), "{said}");
}

/// Every file below a folder.
fn files(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let each = entries.flat_map(|entry| {
        let path = entry.expect("an entry").path();
        if path.is_dir() { files(&path) } else { vec![path.display().to_string()] }
    });
    each.collect()
}

#[test]
fn all_papers_are_reproduced_and_an_interrupted_run_continues() {
    let folder = Folder::new("reproduce");
    let words = "reproduce all --quick --out page";
    interrupt_after(&folder, words, "page/kang-cho-figure-2");
    let part = folder.json("page/summary.json");
    let done = part["experiments"].as_array().map_or(0, Vec::len);
    assert!((2..EXPECTED.len()).contains(&done), "{done} done when interrupted");

    let text = folder.succeed(words);
    assert!(text.contains(&format!("{done} experiments were done before")), "{text}");
    check_verdicts(&folder.json("page/summary.json"));
    let all = files(folder.path());
    assert!(!all.iter().any(|name| name.ends_with(".part")), "{all:?}");
    check_plots(&all);
    let text = String::from_utf8(folder.read("page/verdicts.md")).expect("text");
    let lines = text.lines().filter(|line| line.starts_with("| ")).count();
    assert_eq!(lines, EXPECTED.len() + 1, "{text}");
    check_in_browser(&folder);

    // Once more: nothing is left to do.
    let again = folder.succeed(words);
    assert!(again.contains(&format!("{} experiments were done before", EXPECTED.len())), "{again}");
}

/// Every plot is there as CSV, SVG and PNG.
fn check_plots(files: &[String]) {
    let plots = |ending: &str| -> Vec<&str> {
        let plots = files.iter().filter(|name| name.contains("/plot-"));
        let mut stems: Vec<&str> = plots.filter_map(|name| name.strip_suffix(ending)).collect();
        stems.sort_unstable();
        stems
    };
    let drawn = plots(".svg");
    assert!(drawn.len() > 10, "{drawn:?}");
    assert_eq!(drawn, plots(".csv"));
    assert_eq!(drawn, plots(".png"));
    for stem in drawn {
        let read = |ending: &str| std::fs::read(format!("{stem}.{ending}")).expect("a file");
        assert!(read("png").starts_with(b"\x89PNG") && read("png").len() > 5000, "{stem}");
        let csv = String::from_utf8(read("csv")).expect("text");
        assert!(csv.starts_with("series,") && csv.lines().count() > 2, "{stem}: {csv}");
    }
}

/// Opens the page, looks for errors, and asks every picture whether it is there.
fn check_in_browser(folder: &Folder) {
    let Some(browser) = chromium::or_skip("reproduction", chromium::found()) else { return };
    let page = String::from_utf8(folder.read("page/index.html")).expect("text");
    assert!(!page.contains("src=\"http") && !page.contains("url("), "the page needs no network");
    let asking = "<script>addEventListener('load', () => { \
        const images = [...document.images]; \
        const missing = images.filter(i => !(i.complete && i.naturalWidth > 0)).length; \
        const wide = document.documentElement.scrollWidth > innerWidth; \
        document.title = `${images.length} pictures, ${missing} missing, ${document.querySelectorAll('svg').length} plots, wide ${wide}`; \
    });</script></body>";
    folder.write("page/asking.html", &page.replace("</body>", asking));
    let open = |name: &str, size: &str| {
        let output = Command::new(&browser)
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr"])
            .args([&format!("--window-size={size}"), "--dump-dom"])
            .arg(format!("file://{}", folder.path().join("page").join(name).display()))
            .output()
            .expect("the browser starts");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}");
        assert!(!said.contains("CONSOLE"), "{said}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    assert!(open("index.html", "1200,900").contains("What of the papers holds"));
    for size in ["1200,900", "500,900"] {
        let seen = open("asking.html", size);
        let title = seen.split("<title>").nth(1).and_then(|rest| rest.split("</title>").next());
        let title = title.unwrap_or_default();
        let pictures: u32 = title.split(' ').next().and_then(|n| n.parse().ok()).unwrap_or(0);
        assert!(
            pictures > 20 && title.contains(" 0 missing") && title.ends_with("wide false"),
            "{size}: {title}"
        );
    }
}

#[test]
fn the_committed_run_has_every_experiment_and_the_same_verdicts() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reproduction/summary.json");
    let summary = std::fs::read(path).expect("docs/reproduction/summary.json");
    let summary: Value = serde_json::from_slice(&summary).expect("JSON");
    assert_eq!(summary["quick"], false);
    check_verdicts(&summary);
}

#[test]
fn a_file_is_no_folder() {
    let folder = Folder::new("no-folder");
    folder.write("page", "text");
    let error = folder.refuse("reproduce jeong --quick --out page");
    assert!(error.contains("--out page: is a file"), "{error}");
}

//! What the commands write when all goes well, and when they are interrupted.

use crate::support::{Folder, npy_shape};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

#[test]
fn the_scene_files_of_the_project_run() {
    let folder = Folder::new("scenes");
    let scenes = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenes");
    let mut count = 0;
    for entry in std::fs::read_dir(scenes).unwrap() {
        let path = entry.unwrap().path();
        folder.succeed(&format!("run {} --frames 2", path.display()));
        count += 1;
    }
    assert!(count > 0);
}

#[test]
fn run_writes_every_file() {
    let folder = Folder::new("run");
    let text = folder.succeed(
        "run golden-5x5 --frames 6 --report r.json --positions p.npy --out m.obj \
         --preview a.gif --preview b.png --converged-error",
    );
    assert!(text.contains("25 particles"), "{text}");

    let report = folder.json("r.json");
    assert_eq!(report["scene"], "golden-5x5");
    assert_eq!(report["method"]["id"], "muslin");
    assert_eq!(report["particles"], 25);
    assert_eq!(report["frames"], 6);
    assert_eq!(report["interrupted"], false);
    for (series, length) in [
        (&report["energy"]["kinetic"], 7),
        (&report["energy"]["total"], 7),
        (&report["strain"]["max"], 7),
        (&report["momentum"], 7),
        (&report["lowest"], 7),
        (&report["solver"]["iterations"], 6),
        (&report["solver"]["residual"], 6),
        (&report["converged_error"], 6),
    ] {
        assert_eq!(series.as_array().map(Vec::len), Some(length), "{series}");
    }
    assert!(report["ms_per_frame"]["median"].as_f64().is_some_and(|ms| ms > 0.0));

    assert_eq!(npy_shape(&folder.read("p.npy")), [7, 25, 3]);
    let mesh = String::from_utf8(folder.read("m.0006.obj")).expect("text");
    assert_eq!(mesh.lines().filter(|line| line.starts_with("v ")).count(), 25);
    assert_eq!(mesh.lines().filter(|line| line.starts_with("f ")).count(), 32);
    assert!(folder.read("a.gif").starts_with(b"GIF89a"));
    assert!(folder.read("b.png").starts_with(b"\x89PNG\r\n\x1a\n"));
    assert_eq!(folder.names().len(), 4 + 7, "{:?}", folder.names());
}

#[test]
fn a_shorter_sequence_leaves_nothing_of_a_longer_one() {
    let folder = Folder::new("stale");
    folder.succeed("run pendulum --frames 5 --out s.obj");
    let others = ["s.0007.obj", "s.7.obj", "other.0009.obj"];
    others.iter().for_each(|name| folder.write(name, "# somebody else's\n"));
    let text = folder.succeed("run pendulum --frames 2 --out s.obj");
    let mut left = ["s.0000.obj", "s.0001.obj", "s.0002.obj"].to_vec();
    left.extend(others);
    left.sort_unstable();
    assert_eq!(folder.names(), left);
    assert!(text.contains("wrote s.0000.obj … s.0002.obj (3 files)"), "{text}");
    assert!(text.contains("removed s.0003.obj … s.0005.obj (3 files)"), "{text}");
    assert!(text.contains("left s.0007.obj alone"), "{text}");
}

#[test]
fn a_run_that_blows_up_is_drawn_in_time() {
    let folder = Folder::new("blow-up");
    let text = folder.succeed(
        "run hang --method explicit-euler --frames 20 --set cloth.0.columns=20 \
         --set cloth.0.rows=20 --preview b.png --preview b.gif",
    );
    assert!(text.contains("not finite"), "{text}");
}

#[test]
fn a_chain_is_written_as_lines() {
    let folder = Folder::new("chain");
    folder.succeed("run chain --frames 1 --out c.obj --preview c.png");
    let mesh = String::from_utf8(folder.read("c.0001.obj")).expect("text");
    assert_eq!(mesh.lines().filter(|line| line.starts_with("l ")).count(), 60);
}

#[test]
fn threads_do_not_change_the_result() {
    let folder = Folder::new("threads");
    let run = |n: u32| {
        let words = "run hang --frames 3 --method kim-2006 --set cloth.0.columns=60";
        folder.succeed(&format!("{words} --threads {n} --positions {n}.npy"));
        folder.read(&format!("{n}.npy"))
    };
    assert!(run(1) == run(3));
}

#[test]
fn a_scene_file_with_mesh_and_method() {
    let folder = Folder::new("file");
    folder.write("quad.obj", "v 0 0 0\nv 1 0 0\nv 1 0 1\nv 0 0 1\nf 1/1 2/2 3/3 4/4\n");
    folder.write(
        "quad.toml",
        "dt = 0.01\ngravity = [0, -1, 0]\n[[cloth]]\nfabric = \"cotton\"\n\
         mesh.file = \"quad.obj\"\npins = [{ particles = [0] }]\n\
         [method]\npreset = \"kim-2006\"\nsweeps = 9\n",
    );
    folder.succeed("run quad.toml --frames 2 --report r.json");
    let report = folder.json("r.json");
    assert_eq!(report["scene"], "quad");
    assert_eq!(report["triangles"], 2);
    assert_eq!(report["method"]["id"], "kim-2006");
    assert_eq!(report["method"]["sweeps"], 9);

    // The command line beats the file.
    folder.succeed(
        "run quad.toml --frames 2 --report r.json --method xpbd --set method.sweeps=3 --set dt=0.5",
    );
    let report = folder.json("r.json");
    assert_eq!(report["method"]["id"], "xpbd");
    assert_eq!(report["method"]["sweeps"], 3);
    assert_eq!(report["dt"], 0.5);
}

#[test]
fn lists_are_tables_and_json() {
    let folder = Folder::new("list");
    for (what, key) in [("scenes", "name"), ("methods", "id"), ("fabrics", "name")] {
        let table = folder.succeed(&format!("list {what}"));
        let json = folder.succeed(&format!("list {what} --json"));
        let list: Vec<serde_json::Value> = serde_json::from_str(&json).expect("a JSON list");
        assert!(!list.is_empty());
        for entry in list {
            let name = entry[key].as_str().expect("a name");
            assert!(table.contains(name), "{name} is not in the table");
        }
    }
}

#[test]
fn compare_writes_a_page() {
    let folder = Folder::new("compare");
    let table = folder.succeed(
        "compare golden-5x5 --methods choi-ko-2002,kim-2006 --frames 20 --html c.html --json c.json \
         --set method.tolerance=1e-3",
    );
    assert!(table.contains("distance to choi-ko-2002"), "{table}");
    let page = String::from_utf8(folder.read("c.html")).expect("text");
    assert!(page.contains("<svg") && page.contains("data:image/png;base64,"));
    assert!(!page.contains("<script"));
    let json = folder.json("c.json");
    assert_eq!(json["methods"].as_array().map(Vec::len), Some(2));
    assert_eq!(json["methods"][0]["distance"], 0.0);
}

#[test]
fn bench_measures() {
    let folder = Folder::new("bench");
    let table = folder.succeed("bench --quick --filter fall/32/symplectic --json b.json");
    assert!(table.contains("million springs per second"), "{table}");
    let cell = &folder.json("b.json")["cells"][0];
    assert_eq!(cell["particles"], 1024);
    assert!(cell["bytes"].as_u64().is_some_and(|bytes| bytes > 100_000));
}

/// Ctrl-C: the frame is finished, the files are complete.
#[test]
#[cfg(unix)]
fn an_interrupted_run_leaves_complete_files() {
    let folder = Folder::new("interrupt");
    let mut child = folder
        .command("run hang --method kim-2006 --frames 100000 --report r.json --positions p.npy")
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let part = folder.path().join("p.npy.part");
    let begun = Instant::now();
    // More than the start state: it is simulating.
    while std::fs::metadata(&part).map_or(0, |data| data.len()) < 200_000 {
        assert!(begun.elapsed() < Duration::from_secs(20), "no frames appear");
        std::thread::sleep(Duration::from_millis(5));
    }
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().expect("kill").success());
    let status = child.wait().expect("the end of the run");
    assert_eq!(status.code(), Some(130));
    let report = folder.json("r.json");
    assert_eq!(report["interrupted"], true);
    let frames = report["frames"].as_u64().expect("a number") as usize;
    assert_eq!(npy_shape(&folder.read("p.npy")), [frames + 1, 6400, 3]);
    assert_eq!(folder.names(), ["p.npy", "r.json"]);
}

#[test]
fn a_run_saved_in_the_lab_is_replayed() {
    let folder = Folder::new("recording");
    let recording = "
        [[cloth]]
        columns = 5
        rows = 5
        fabric = \"silk\"
        pins = [{ place = \"first-corner\" }]
        [method]
        preset = \"xpbd\"
        [recording]
        frames = 8
        [[recording.events]]
        frame = 4
        act = { let-go = { particle = 0 } }
    ";
    folder.write("saved.toml", recording);
    folder.succeed("run saved.toml --positions p.npy");
    let file = folder.read("p.npy");
    assert_eq!(npy_shape(&file), [9, 25, 3]);
    let numbers = &file[file.len() - 4 * 9 * 25 * 3..];
    let height = |frame: usize| {
        let at = 4 * (frame * 25 * 3 + 1);
        f32::from_le_bytes(numbers[at..at + 4].try_into().unwrap())
    };
    // Held for four frames, then let go.
    assert!(height(4) == height(0) && height(5) < height(0), "{} {}", height(4), height(5));
    folder.write("wrong.toml", &recording.replace("let-go", "dance"));
    assert!(folder.refuse("run wrong.toml").contains("dance"));
}

#[test]
fn the_lab_serves_its_page_and_ends_on_interruption() {
    use std::io::{BufRead, BufReader, Read, Write};
    let folder = Folder::new("lab");
    assert!(folder.refuse("lab --scene nowhere --no-open").contains("nowhere"));
    let mut lab = folder.command("lab --no-open").stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(lab.stdout.take().unwrap()).lines();
    let first = lines.next().unwrap().unwrap();
    let address = first.split("http://").nth(1).unwrap().trim_end_matches('/');
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    let request = format!("GET / HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("Muslin"), "{answer}");
    let id = lab.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().expect("kill").success());
    let begun = Instant::now();
    assert!(lab.wait().unwrap().success() && begun.elapsed() < Duration::from_secs(5));
}

//! Wrong requests: exit code 2, one line naming key, value and remedy, nothing written.

use crate::support::Folder;

#[track_caller]
fn check(folder: &Folder, words: &str, parts: &[&str]) {
    let error = folder.refuse(words);
    for part in parts {
        assert!(error.contains(part), "muslin {words}: {part} is not in: {error}");
    }
}

#[test]
fn scenes_and_methods_that_do_not_exist() {
    let folder = Folder::new("unknown");
    check(&folder, "run hnag --frames 1 --report r.json", &["scene = hnag", "bunting"]);
    check(&folder, "run none.toml --frames 1", &["none.toml", "cannot be read"]);
    check(&folder, "run hang --method kim", &["method = kim", "kim-2006"]);
    check(&folder, "compare hang --methods kim-2006,kim", &["method = kim:"]);
    check(&folder, "bench --filter nothing", &["--filter nothing"]);
}

#[test]
fn keys_that_are_wrong() {
    let folder = Folder::new("keys");
    let run = |set: &str| format!("run golden-5x5 --frames 1 --report r.json --set {set}");
    check(&folder, &run("cloth.0.colums=8"), &["cloth.0.colums = 8", "unknown key", "columns"]);
    check(&folder, &run("cloth.0.columns=many"), &["cloth.0.columns = many", "whole number"]);
    check(&folder, &run("cloth.0.columns=0"), &["cloth.0.columns = 0", "must be"]);
    check(&folder, &run("cloth.1.columns=8"), &["cloth.1.columns", "1 entr"]);
    check(&folder, &run("gravity=down"), &["gravity = down", "three numbers"]);
    check(&folder, &run("dt=-1"), &["dt = -1", "must be"]);
    check(&folder, &run("dt=nan"), &["dt = NaN", "must be"]);
    check(&folder, &run("cloth.0.width=inf"), &["cloth.0.width = inf", "must be"]);
    check(&folder, &run("cloth.0.fabric=velvet"), &["cloth.0.fabric = velvet", "silk"]);
    check(&folder, &run("method.jacobian=smooth"), &["method.jacobian = smooth", "smoothed"]);
    check(&folder, &run("method.sweeps=0"), &["method.sweeps = 0", "between"]);
    check(&folder, &run("method.colour=red"), &["method.colour = red", "jacobian"]);
    check(&folder, &run("method.id=kim-2006"), &["--method kim-2006"]);
    check(&folder, &run("dt"), &["--set dt"]);
    check(&folder, "run hang --seconds -1", &["--seconds"]);
    check(&folder, "run hang --seconds nan", &["--seconds"]);
}

#[test]
fn files_that_are_wrong() {
    let folder = Folder::new("files");
    folder.write("nan.toml", "dt = nan\n[[cloth]]\nfabric = \"silk\"\n");
    check(&folder, "run nan.toml --frames 1", &["dt = NaN", "must be"]);
    folder.write("typo.toml", "dt = 0.01\n[[cloth]]\n  colums = 4\n");
    check(&folder, "run typo.toml --frames 1", &["typo.toml:3:3", "colums", "columns"]);
    folder.write("type.toml", "dt = 0.01\n[[cloth]]\ncolumns = \"many\"\n");
    check(&folder, "run type.toml --frames 1", &["type.toml:3:11", "whole number"]);
    folder.write("broken.toml", "dt = \n");
    check(&folder, "run broken.toml --frames 1", &["broken.toml:1:"]);
    folder.write("method.toml", "[[cloth]]\nfabric = \"silk\"\n[method]\nid = \"kim\"\n");
    check(&folder, "run method.toml --frames 1", &["method = kim", "kim-2006"]);
    folder.write("mesh.toml", "[[cloth]]\nfabric = \"silk\"\nmesh.file = \"none.obj\"\n");
    check(&folder, "run mesh.toml --frames 1", &["cloth.0.mesh.file = none.obj", "cannot be read"]);
    folder.write("bad.obj", "v 0 0 0\nf 1 2 3\n");
    let set = "run mesh.toml --frames 1 --set cloth.0.mesh.file=bad.obj";
    check(&folder, set, &["cloth.0.mesh.file = bad.obj", "line 2"]);
}

#[test]
fn outputs_that_cannot_be() {
    let folder = Folder::new("outputs");
    let run = |option: &str| format!("run golden-5x5 --frames 1 {option}");
    for option in ["--report", "--positions", "--out", "--preview"] {
        let name = match option {
            "--out" => "none/a.obj",
            "--preview" => "none/a.png",
            _ => "none/a",
        };
        check(&folder, &run(&format!("{option} {name}")), &[option, "none/a", "existing folder"]);
    }
    check(&folder, &run("--report ."), &["is a folder"]);
    check(&folder, &run("--report a --positions a"), &["two outputs"]);
    check(&folder, &run("--out a.glb"), &["a.glb", "use .obj"]);
    check(&folder, &run("--preview a.bmp"), &["a.bmp", ".gif or .png"]);
    check(&folder, "compare golden-5x5 --methods xpbd --html none/a.html", &["--html", "none/a"]);
    // These come from the argument parser, which explains over several lines.
    for words in ["run", "run hang --frames 0", "run hang --frames 1 --seconds 1", "list cats"] {
        assert_eq!(folder.muslin(words).status.code(), Some(2), "muslin {words}");
    }
}

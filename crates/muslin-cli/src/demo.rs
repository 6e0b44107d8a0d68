//! `muslin demo`: a short demo, drawn into the current folder, and where to go from there.

use crate::arguments::{RunArguments, SceneArguments};
use crate::failure::Failure;
use crate::run;
use crate::text::print;

/// Long enough for two gusts, short enough to wait for. [s]
const SECONDS: f64 = 3.0;

const MORE: &str = "
Open muslin-demo.gif to see the cloth move; muslin-demo.png is its last frame and
muslin-demo.json holds every figure measured.

What else there is:
  muslin                                                 the lab, in the browser
  muslin list scenes                                     and: list methods, list fabrics
  muslin run hang --method kim-2006 --preview hang.gif   any scene with any method
  muslin compare hang --methods kim-2006,xpbd --seconds 2 --html hang.html
                                                         methods side by side on one scene
  muslin bench --quick                                   what a step of each method costs
  muslin run --help                                      meshes, positions, settings
";

/// Runs and draws the demo scene.
pub fn demo() -> Result<(), Failure> {
    let folder = std::env::current_dir()
        .map(|folder| folder.display().to_string())
        .unwrap_or_else(|_| "the current folder".into());
    print(&format!(
        "Muslin {}: pennants of five fabrics in a gusty wind, drawn into {folder}\n\n",
        env!("CARGO_PKG_VERSION")
    ));
    run::run(&RunArguments {
        scene: SceneArguments {
            scene: "bunting".into(),
            seconds: Some(SECONDS),
            threads: 1,
            ..SceneArguments::default()
        },
        report: Some("muslin-demo.json".into()),
        preview: vec!["muslin-demo.gif".into(), "muslin-demo.png".into()],
        ..RunArguments::default()
    })?;
    print(MORE);
    Ok(())
}

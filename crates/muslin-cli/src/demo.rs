//! `muslin` alone: a short demo, drawn into the current folder, and where to go from there.

use crate::arguments::{RunArguments, SceneArguments};
use crate::failure::Failure;
use crate::run;
use crate::text::print;

const MORE: &str = "
What else there is:
  muslin list scenes                                       scenes, methods or fabrics
  muslin run hang --method kim-2006 --preview hang.gif     any scene with any method
  muslin compare hang --methods kim-2006,xpbd --html hang.html
                                                           methods side by side on one scene
  muslin bench --quick                                     what a step of each method costs
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
        scene: SceneArguments { scene: "bunting".into(), threads: 1, ..SceneArguments::default() },
        report: Some("muslin-demo.json".into()),
        preview: vec!["muslin-demo.gif".into(), "muslin-demo.png".into()],
        ..RunArguments::default()
    })?;
    print(MORE);
    Ok(())
}

//! A scene and a method, as the command line asks for them: found, changed, checked, compiled.

use crate::arguments::SceneArguments;
use crate::failure::Failure;
use crate::scene_file::{self, Found};
use crate::setting::Setting;
use muslin::solvers::presets::DEFAULT;
use muslin::{Method, Model, Scene};
use muslin_lab::Recording;

/// A scene ready for any method.
pub struct Setup {
    /// The scene compiled.
    pub model: Model,
    /// Frames to simulate.
    pub frames: u64,
    /// What hands did, if the scene is a run saved in the lab.
    pub recording: Recording,
    settings: Vec<Setting>,
    file_method: Option<toml::Table>,
}

impl Setup {
    /// Finds the scene, applies the settings and checks everything.
    pub fn new(arguments: &SceneArguments) -> Result<Self, Failure> {
        let Found { mut scene, method, recording, folder } = scene_file::find(&arguments.scene)?;
        let mut settings = Vec::new();
        for text in &arguments.settings {
            let setting = Setting::parse(text)?;
            if setting.within("method").is_some() {
                settings.push(setting);
            } else {
                scene = setting.apply(&scene, &setting.key)?;
            }
        }
        scene_file::load_meshes(&mut scene, &folder)?;
        let model = scene.compile()?;
        let frames = frames(arguments, &scene, &recording)?;
        Ok(Self { model, frames, recording, settings, file_method: method })
    }

    /// The method of this name, or the file's, or the default; with the settings applied.
    pub fn method(&self, name: Option<&str>) -> Result<Method, Failure> {
        let mut method = match (name, &self.file_method) {
            (Some(name), _) => Method::preset(name)?,
            (None, Some(table)) => method_of(table)?,
            (None, None) => Method::preset(DEFAULT)?,
        };
        for setting in &self.settings {
            method = change(&method, setting)?;
        }
        method.validate()?;
        Ok(method)
    }
}

/// Applies `method.key=value`.
fn change(method: &Method, setting: &Setting) -> Result<Method, Failure> {
    match setting.within("method") {
        Some("id" | "preset") => {
            let (key, text) = (&setting.key, &setting.text);
            Err(Failure::Wrong(format!("{key} = {text}: choose the method with --method {text}")))
        }
        Some(path) => setting.apply(method, path),
        None => Ok(method.clone()),
    }
}

/// The method a `[method]` table describes: a preset and what differs from it.
fn method_of(table: &toml::Table) -> Result<Method, Failure> {
    let preset = table.get("preset").or_else(|| table.get("id"));
    let mut method = match preset {
        None => Method::preset(DEFAULT)?,
        Some(toml::Value::String(name)) => Method::preset(name)?,
        Some(other) => {
            let remedy = "must be the name of a method in quotes";
            return Err(Failure::Wrong(format!("method.preset = {other}: {remedy}")));
        }
    };
    for (key, value) in table.iter().filter(|(key, _)| *key != "preset" && *key != "id") {
        let setting =
            Setting { key: format!("method.{key}"), text: value.to_string(), value: value.clone() };
        method = change(&method, &setting)?;
    }
    Ok(method)
}

/// Frames by the arguments, otherwise as many as were recorded, otherwise as long as the scene suggests.
fn frames(
    arguments: &SceneArguments,
    scene: &Scene,
    recording: &Recording,
) -> Result<u64, Failure> {
    if let Some(frames) = arguments.frames {
        return Ok(frames);
    }
    if recording.frames > 0 && arguments.seconds.is_none() {
        return Ok(recording.frames);
    }
    let seconds = arguments.seconds.unwrap_or(scene.seconds);
    let frames = (seconds / scene.dt).round();
    if seconds > 0.0 && (0.0..=1e8).contains(&frames) {
        Ok((frames as u64).max(1))
    } else {
        let key = if arguments.seconds.is_some() { "--seconds" } else { "seconds" };
        let remedy = format!("must be above 0 and at most 1e8 frames of dt = {} s", scene.dt);
        Err(Failure::Wrong(format!("{key} = {seconds}: {remedy}")))
    }
}

/// The method's name and what was changed about it: `kim-2006 with sweeps = 12`.
pub fn label(method: &Method) -> String {
    let entries = |method: &Method| toml::Table::try_from(method).unwrap_or_default();
    let Ok(preset) = Method::preset(&method.id) else { return method.id.clone() };
    let (now, before) = (entries(method), entries(&preset));
    let changed: Vec<String> = (now.iter())
        .filter(|(key, value)| before.get(*key) != Some(value))
        .map(|(key, value)| format!("{key} = {}", value.to_string().trim_matches('"')))
        .collect();
    if changed.is_empty() {
        method.id.clone()
    } else {
        format!("{} with {}", method.id, changed.join(", "))
    }
}

//! The words of the command line.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Real-time cloth: every published method on the same scene, with what it costs and gets wrong.
///
/// Without a command the lab is served on a free local port and opened in the browser.
#[derive(Parser)]
#[command(name = "muslin", version)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// The commands.
#[derive(Subcommand)]
pub enum Command {
    /// Serve the lab: pull the cloth in the browser and see the numbers
    Lab(LabArguments),
    /// Simulate a short demo and draw it into the current folder
    Demo,
    /// List the built-in scenes, methods or fabrics
    List(ListArguments),
    /// Simulate one scene and write what came out
    Run(RunArguments),
    /// Run several methods on the same scene and show them side by side
    Compare(CompareArguments),
    /// Measure what a step of every method costs
    Bench(BenchArguments),
    /// Measure the tables and figures of five papers again, and say what holds
    Reproduce(ReproduceArguments),
}

/// How to serve the lab.
#[derive(Args)]
pub struct LabArguments {
    /// Built-in scene to open with
    #[arg(long, value_name = "SCENE")]
    pub scene: Option<String>,
    /// Local port; 0 takes a free one
    #[arg(long, value_name = "P", default_value_t = 0)]
    pub port: u16,
    /// Do not open a browser
    #[arg(long)]
    pub no_open: bool,
}

/// What to list.
#[derive(Args)]
pub struct ListArguments {
    /// Which list
    pub what: Listed,
    /// Print JSON in place of a table
    #[arg(long)]
    pub json: bool,
}

/// The lists.
#[derive(Clone, Copy, ValueEnum)]
pub enum Listed {
    /// Built-in scenes
    Scenes,
    /// Methods and the choices each makes
    Methods,
    /// Fabrics, their figures and where these come from
    Fabrics,
}

/// The scene and what is changed about it: common to all commands that simulate.
#[derive(Args, Clone, Default)]
pub struct SceneArguments {
    /// A built-in scene (see `muslin list scenes`) or a file ending in .toml
    pub scene: String,
    /// Change a key of the scene (cloth.0.columns=320) or the method (method.sweeps=12)
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub settings: Vec<String>,
    /// Number of frames; a frame is one `dt` of the scene
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    pub frames: Option<u64>,
    /// Simulated seconds, in place of a number of frames
    #[arg(long, value_name = "T", conflicts_with = "frames", allow_negative_numbers = true)]
    pub seconds: Option<f64>,
    /// Threads to step with; the result is the same for any number
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub threads: u32,
}

/// `muslin run`.
#[derive(Args, Clone, Default)]
pub struct RunArguments {
    /// What to simulate.
    #[command(flatten)]
    pub scene: SceneArguments,
    /// The method (see `muslin list methods`); otherwise the file's own, otherwise muslin
    #[arg(long, value_name = "ID")]
    pub method: Option<String>,
    /// Write every measured figure as JSON
    #[arg(long, value_name = "FILE.json")]
    pub report: Option<PathBuf>,
    /// Write positions as a float32 array (frames + 1, particles, 3)
    #[arg(long, value_name = "FILE.npy")]
    pub positions: Option<PathBuf>,
    /// Write one mesh per frame: FILE.0000.obj, FILE.0001.obj, …
    #[arg(long, value_name = "FILE.obj")]
    pub out: Option<PathBuf>,
    /// Draw an animation (.gif) or the last frame (.png); may be given twice
    #[arg(long, value_name = "FILE.gif|FILE.png")]
    pub preview: Vec<PathBuf>,
    /// Also measure how far every step is from the converged one (slow)
    #[arg(long)]
    pub converged_error: bool,
}

/// `muslin compare`.
#[derive(Args)]
pub struct CompareArguments {
    /// What to simulate.
    #[command(flatten)]
    pub scene: SceneArguments,
    /// Methods separated by commas
    #[arg(long, value_name = "A,B,C", value_delimiter = ',', required = true)]
    pub methods: Vec<String>,
    /// Write the table and the series as JSON
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write one self-contained page with table, plots and pictures
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

/// `muslin bench`.
#[derive(Args)]
pub struct BenchArguments {
    /// Write every measurement as JSON
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write quality and resolution into this folder: quality.csv and resolution.csv, with a plot of each
    #[arg(long, value_name = "DIR")]
    pub csv: Option<PathBuf>,
    /// Only measurements whose "scene/size/method" "systems/scene/size/tolerance/k=…", "quality/scene/size/method" or "resolution/scene/size/method/steps" contains this text
    #[arg(long, value_name = "TEXT")]
    pub filter: Option<String>,
    /// Small grids and short measurements
    #[arg(long)]
    pub quick: bool,
    /// Threads to step with
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub threads: u32,
}

/// `muslin reproduce`.
#[derive(Args)]
pub struct ReproduceArguments {
    /// Which paper
    #[arg(value_name = "PAPER", default_value = "all")]
    pub paper: PaperName,
    /// Folder for the page, its plots and pictures, and what an interrupted run has done
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Smaller grids and shorter runs: under two minutes in place of a quarter of an hour
    #[arg(long)]
    pub quick: bool,
}

/// The papers.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PaperName {
    /// Kang & Cho 2002
    KangCho,
    /// Kim 2006
    Kim,
    /// Moustakas, Tzovaras & Strintzis
    Moustakas,
    /// Rubin 2005
    Rubin,
    /// Jeong & Lee
    Jeong,
    /// All of them
    All,
}

impl PaperName {
    /// The word on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::KangCho => "kang-cho",
            Self::Kim => "kim",
            Self::Moustakas => "moustakas",
            Self::Rubin => "rubin",
            Self::Jeong => "jeong",
            Self::All => "all",
        }
    }
}

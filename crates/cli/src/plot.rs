//! `tresse plot`: a figure of a run or a sweep as a file for a paper. The Python package draws it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use tresse_workbench::{Failure, plot};

use crate::ended::Ended;
use crate::python;

/// Draw a figure of a run or a sweep for a paper: PDF, SVG or PNG
///
/// FIGURE is the id of a figure that the experiment declares in `[[figures]]` (`tresse explain
/// figures`), such as fig8; the page of the run shows the same ones. Of a sweep it is a metric, such
/// as fct_p99_s, against the key with the most values: other keys have panels. The file's name says what it
/// becomes: .pdf has its fonts embedded as TrueType, .svg keeps its words as text, .png has 300
/// dots per inch. It is as wide as a column or as the text of a two-column page, with letters of
/// 8 points: include it as it is, without scaling. An existing file is replaced.
///
/// The Python package draws it, with its extra `plot` (docs/python.md): `run.plot.figure("fig8")`
/// there is the same figure, to be changed further. Colours are those of the page.
///
/// Examples:
///   tresse plot runs/xmp-table1-1 fig8 -o fig8.pdf
///   tresse plot runs/xmp-table1-1 fig8 -o fig8.pdf --width text    # across both columns
///   tresse plot runs/mine-1 rates -o rates.svg
///   tresse plot runs/mine-1 rates -o - > rates.pdf                 # PDF on stdout
///   tresse plot sweeps/mine-1 fct_p99_s -o tail.pdf
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// The folder of the run or the sweep
    run: PathBuf,
    /// The id of the figure; of a sweep, a metric
    figure: String,
    /// The file, which ends in .pdf, .svg or .png; `-` is PDF on stdout
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,
    /// How wide it is: 3.5 or 7.16 inches, as in IEEE's journals
    #[arg(long, value_enum, default_value_t)]
    width: Width,
}

/// How wide a figure is.
#[derive(Debug, Clone, Copy, Default, clap::ValueEnum)]
enum Width {
    /// 3.5 inches
    #[default]
    Column,
    /// 7.16 inches
    Text,
}

pub fn run(args: &Args) -> Result<(), Ended> {
    let format = format(&args.out)?;
    plot::figure(&args.run, &args.figure)?;
    let width = match args.width {
        Width::Column => "column",
        Width::Text => "text",
    };
    let mut arguments: Vec<OsString> = ["--format", format, "--width", width].map(OsString::from).to_vec();
    // With `=`, and after `--`, a name that begins with a dash is not an option.
    let mut output = OsString::from("--output=");
    output.push(&args.out);
    arguments.extend([output, "--".into(), args.run.clone().into_os_string(), args.figure.clone().into()]);
    Err(python::hand_over("tresse.plot", "plot", &arguments).into())
}

/// What a file of this name becomes.
fn format(out: &Path) -> Result<&'static str, Failure> {
    if out == Path::new("-") {
        return Ok("pdf");
    }
    let ending = out.extension().and_then(|own| own.to_str()).map(str::to_ascii_lowercase);
    let known = ["pdf", "svg", "png"].into_iter().find(|format| ending.as_deref() == Some(format));
    known.ok_or_else(|| {
        let name = out.display();
        Failure::Input(format!("{name}: a figure is a .pdf, .svg or .png file\n\nhint: -o {name}.pdf"))
    })
}

//! A verdict on unknown code, from a process in which that code ran: it may have destroyed anything there.

use std::io::{self, Read, Write};
use std::sync::atomic::AtomicUsize;

use super::search::search_apart;
use super::{Breach, Invariant, Scripts, Statistics, result};
use crate::Controller;
use crate::sandbox::Apart;
use crate::trace::Script;

/// What is between two fields of a verdict.
const END: char = '\0';

/// Like [`super::check`], but for unknown code: nothing of it runs in this process, so code that divides by 0, never
/// returns, or writes where it must not, is a breach and does no harm here.
///
/// # Errors
/// Like [`super::check`]; also if no process can be made.
pub fn check_apart(
    controller: Controller,
    scripts: usize,
) -> Result<Result<Statistics, Box<Breach>>, io::Error> {
    let child = Apart::start(AtomicUsize::new(0), |_, mut output| {
        let searched = search_apart(&Scripts { controller, scripts });
        let text = searched.map(|searched| written(&result(controller, searched)));
        // What is missing is noticed by the reader.
        let _ = text.and_then(|text| output.write_all(text.as_bytes()));
    })?;
    let mut text = String::new();
    child.output()?.read_to_string(&mut text)?;
    if let Some(end) = child.end()? {
        let message = end.message(controller.code());
        let script = Script { subflows: 1, events: Vec::new() };
        let settings = Vec::new();
        return Ok(Err(Box::new(Breach {
            invariant: Invariant::Returns,
            message,
            script,
            other: None,
            settings,
        })));
    }
    read(controller, &text).ok_or_else(|| io::Error::other("it ended without a verdict"))
}

fn written(verdict: &Result<Statistics, Box<Breach>>) -> String {
    let fields = match verdict {
        Ok(Statistics { settings, scripts, hooks }) => {
            vec!["holds".to_owned(), settings.to_string(), scripts.to_string(), hooks.to_string()]
        }
        Err(breach) => {
            let Breach { invariant, message, script, other, settings } = &**breach;
            let other = other.as_ref().map(ToString::to_string).unwrap_or_default();
            let settings = settings.iter().flat_map(|(name, value)| [(*name).to_owned(), value.to_string()]);
            let head = [invariant.name().to_owned(), message.clone(), script.to_string(), other];
            head.into_iter().chain(settings).collect()
        }
    };
    fields.into_iter().map(|field| field + &END.to_string()).collect()
}

fn read(controller: Controller, text: &str) -> Option<Result<Statistics, Box<Breach>>> {
    let fields: Vec<&str> = text.split_terminator(END).collect();
    if let ["holds", settings, scripts, hooks] = fields[..] {
        let (settings, scripts) = (settings.parse().ok()?, scripts.parse().ok()?);
        return Some(Ok(Statistics { settings, scripts, hooks: hooks.parse().ok()? }));
    }
    let [invariant, message, script, other, ref settings @ ..] = fields[..] else { return None };
    let parameters = controller.parameters();
    let setting = |pair: &[&str]| {
        let parameter = parameters.iter().find(|p| p.name == pair[0])?;
        Some((parameter.name, pair.get(1)?.parse().ok()?))
    };
    Some(Err(Box::new(Breach {
        invariant: Invariant::ALL.into_iter().find(|i| i.name() == invariant)?,
        message: message.to_owned(),
        script: Script::parse(script).ok()?,
        other: if other.is_empty() { None } else { Some(Script::parse(other).ok()?) },
        settings: settings.chunks(2).map(setting).collect::<Option<_>>()?,
    })))
}

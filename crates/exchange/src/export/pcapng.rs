//! A capture: the packets that the network card of each recorded host would have seen.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;

use tresse_experiment::Owners;
use tresse_experiment::diagnostic::Diagnostic;
use tresse_experiment::schema::wanted::Wanted;
use tresse_results::Finished;

use super::case::{Case, label, the_only};
use super::packets::Rows;
use super::table::Table;
use super::{none, unwritten};
use crate::capture::{CapturedPacket, Connections, File, Packet, Tcp, frames};

pub(super) fn write(run: &Path, only: &Wanted, out: &mut dyn Write) -> Result<Vec<String>, Diagnostic> {
    // The packets first: without them, there is no point in asking for a case.
    let axes = Table::open(run, "packets")?.axes();
    let mut cases = BTreeSet::new();
    let of_case = only.within(|key| key != "host");
    Table::open(run, "flows")?.each(&of_case, |row| {
        cases.insert(row.texts(&axes)?);
        Ok(())
    })?;
    let case = the_only(run, "a capture", &axes, cases)?;
    let value = |axis: &str| axes.iter().position(|own| own == axis).map_or("", |place| &*case[place]);

    let rows = Rows { run, only };
    let (mut connections, mut hosts) = (Connections::default(), BTreeSet::new());
    let packets = rows.each(|row| {
        connections.add(row);
        hosts.insert(row.host);
        Ok(())
    })?;
    if packets == 0 {
        return Err(none(run));
    }
    connections.fix();

    let comment = format!("{}: {}", name(run), label(&axes, &case));
    let mut file = File::new(out, &comment, hosts.iter().copied()).map_err(unwritten)?;
    let (mut tcp, mut made_up) = (Tcp::default(), 0);
    rows.each(|row| {
        // Groups may have schemes other than the one in the case's name.
        let several = match &*row.key.group {
            "" => value("subflows") != "1",
            group => connections.has_several(group),
        };
        let made = frames(&mut tcp, row, &connections, several).ok_or_else(|| too_large(run, row))?;
        made_up += made.len() as u64 - 1;
        let interface = hosts.range(..row.host).count() as u32;
        for CapturedPacket { frame, sent, comments } in made {
            file.add(interface, (row.time, sent), &frame, &comments).map_err(unwritten)?;
        }
        Ok(())
    })?;
    let noted = Finished::read(run, Owners::some(&[]))?.report.notes.into_iter();
    let noted = noted.filter(|note| note.starts_with(&said_of(&axes, &case)));
    Ok(noted.chain(notes(made_up, connections.seen_twice())).collect())
}

fn notes(made_up: u64, twice: usize) -> Vec<String> {
    let mut notes = Vec::new();
    if made_up > 0 {
        notes.push(format!(
            "packets of handshakes that were not simulated, as their comments say: {made_up} (`[transport] handshake = true` \
             simulates all but a first subflow's last ACK)"
        ));
    }
    if twice > 0 {
        let connections = if twice == 1 { "a connection".to_owned() } else { format!("{twice} connections") };
        notes.push(format!(
            "both ends of {connections} were recorded, so each packet appears twice, and Wireshark takes the second one for \
             a retransmission; choose a host, such as `--only host=0`"
        ));
    }
    notes
}

/// The prefix of the run's notes on a case and seed.
fn said_of(axes: &[String], case: &Case) -> String {
    let values = axes.iter().zip(case).filter(|(_, value)| !value.is_empty());
    let named = values.map(|(axis, value)| match &**axis {
        "scheme" => value.clone(),
        "subflows" => format!("-{value}"),
        "pattern" | "variant" => format!(" {value}"),
        "seed" => format!(" seed {value}: "),
        list => format!(" {list}={value}"),
    });
    named.collect()
}

/// The name of a run for people.
fn name(run: &Path) -> String {
    run.file_name().map_or_else(|| "run".to_owned(), |name| name.to_string_lossy().into_owned())
}

fn too_large(run: &Path, row: &Packet) -> Diagnostic {
    Diagnostic::input(format!(
        "{}: a segment of {} bytes does not fit into an IP packet with the options of MPTCP",
        row.key.name(),
        row.payload
    ))
    .of(run.display().to_string())
    .hint("use `[transport] mss = \"60kB\"` or less")
}

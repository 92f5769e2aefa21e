//! The properties of the links in each layer of a topology.

use tresse_fabric::{LinkConfig, Links, Probability, Threshold};
use tresse_units::{Duration, Rate};

use crate::diagnostic::{Wrong, wrong};
use crate::schema::bounds::{LONGEST, RATES};
use crate::schema::fabric::{Fabric, Layered};

/// The layers of a network that is built link by link.
pub(super) fn links<const N: usize>(f: &Fabric, names: [&str; N]) -> Result<Links<N>, Wrong> {
    let all = each(f, &names)?;
    let layers = std::array::from_fn(|layer| all[layer]);
    Ok(Links { layers, host: f.host_port(), non_ect: f.non_ect.into() })
}

/// The links in each of these layers.
pub(super) fn each(f: &Fabric, names: &[&str]) -> Result<Vec<LinkConfig>, Wrong> {
    let rate: Vec<Rate> = of_layers("rate", given("rate", &f.rate, "10Gbps")?, names)?;
    for (rate, layer) in rate.iter().zip(names) {
        if !RATES.contains(&rate.0) {
            let message = format!("{rate} in the {layer} layer: a link's rate is 1kbps to 100Tbps");
            return Err(wrong("rate", message));
        }
    }
    let delay: Vec<Duration> = of_layers("delay", given("delay", &f.delay, "20us")?, names)?;
    if let Some(delay) = delay.iter().find(|d| d.0 > LONGEST) {
        return Err(wrong("delay", format!("{delay}: a link's delay is at most 1000s")));
    }
    let loss: Vec<tresse_units::Probability> = of_layers("loss", &f.loss, names)?;
    for (loss, layer) in loss.iter().zip(names) {
        if Probability::from(*loss) == Probability::ONE {
            let message = format!("{loss} in the {layer} layer: no flow would ever finish");
            return Err(wrong("loss", message));
        }
    }
    let limit = of_layers("queue", given("queue", &f.queue, "100pkt")?, names)?;
    let mark = of_layers("mark", &f.mark, names)?;
    let link = |layer: usize| LinkConfig {
        rate: rate[layer].0,
        delay: delay[layer].0,
        limit: limit[layer].into(),
        mark: mark[layer].length().into(),
        loss: loss[layer].into(),
    };
    Ok((0..names.len()).map(link).collect())
}

/// The properties of the links in each layer.
pub(super) struct Layers<const N: usize> {
    pub rate: [u64; N],
    pub delay: [u64; N],
    pub limit: [Threshold; N],
    pub mark: [Threshold; N],
    pub loss: [Probability; N],
}

impl<const N: usize> Layers<N> {
    pub(super) fn new(f: &Fabric, names: [&str; N]) -> Result<Self, Wrong> {
        let layers = links(f, names)?.layers;
        Ok(Self {
            rate: layers.map(|link| link.rate),
            delay: layers.map(|link| link.delay),
            limit: layers.map(|link| link.limit),
            mark: layers.map(|link| link.mark),
            loss: layers.map(|link| link.loss),
        })
    }
}

/// A value that every topology needs.
fn given<'a, T>(key: &str, value: &'a Option<Layered<T>>, example: &str) -> Result<&'a Layered<T>, Wrong> {
    let message = || format!("`{key}` is missing, such as {key} = \"{example}\"");
    value.as_ref().ok_or_else(|| Wrong::key("fabric", message()))
}

fn of_layers<T: Copy>(key: &str, v: &Layered<T>, names: &[&str]) -> Result<Vec<T>, Wrong> {
    v.layers(names).map_err(|e| wrong(key, e))
}

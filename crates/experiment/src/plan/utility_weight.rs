//! Weights from users' utilities: THESIS §2.3.1, center-of-utility fairness.

use tresse_controllers::Controller;
use tresse_controllers::center_of_utility::{Points, Shape, weight};

use crate::schema::scheme::Scheme;

/// The value of the parameter `weight` that `scheme`'s `utility` asks for, in thousandths: (x^c / x0^c)^α by
/// (2.9), where x^c is the center of the user's utility by (2.3), and x0^c that of the controller's own α-fair
/// utility up to the rate `base`. `None` if the scheme has no utility.
///
/// # Errors
/// A controller without the parameters `weight` and `alpha`; a weight that is given twice, or is outside the
/// parameter's range; points that do not form a utility.
pub(crate) fn of(controller: Controller, scheme: &Scheme) -> Result<Option<u64>, String> {
    let Some(utility) = &scheme.utility else { return Ok(None) };
    let declared = |name: &str| controller.parameters().into_iter().find(|p| p.name == name);
    let (Some(own), Some(alpha)) = (declared("weight"), declared("alpha")) else {
        return Err(format!("{} has no weighted alpha-fair utility, unlike holnet_cc", controller.name()));
    };
    let given = |name: &str| scheme.parameters.get(name).copied();
    if given("weight").is_some() {
        return Err("the utility sets the parameter weight, but it is given too".into());
    }
    let alpha = given("alpha").unwrap_or(alpha.range.default) as f64 / 1000.0;
    // kbit/s.
    let min_rate = given("min_rate").unwrap_or(0) as f64 * 1000.0;
    let points: Vec<(f64, f64)> = utility.points.iter().map(|&(rate, u)| (rate.0 as f64, u)).collect();
    let saturated = points.last().map_or(0.0, |p| p.0);
    let center = Points::new(points, min_rate).and_then(|p| Shape::Points(p).center(saturated));
    let base = Shape::AlphaFair { alpha }.center(utility.base.0 as f64);
    let center = center.map_err(|e| format!("{e} (rates in bit/s)"))?;
    let base = base.map_err(|e| format!("base: {e} (rates in bit/s)"))?;
    let thousandths = (1000.0 * weight(center, base, alpha)).round();
    if !(own.range.min as f64..=own.range.max as f64).contains(&thousandths) {
        return Err(format!(
            "the weight of these points relative to a base of {} is {}, outside {} to {}",
            utility.base,
            thousandths / 1000.0,
            own.range.min as f64 / 1000.0,
            own.range.max as f64 / 1000.0
        ));
    }
    Ok(Some(thousandths as u64))
}

#[cfg(test)]
mod tests {
    use crate::{Profile, find, load, resolve};

    /// The weight of a scheme with that utility, or the message.
    fn weight(utility: &str, more: &[&str]) -> Result<u64, String> {
        let set = [
            "schemes.video.controller=holnet_cc_cos".to_owned(),
            format!("schemes.video.utility={{ {utility} }}"),
        ];
        let set: Vec<String> = set.into_iter().chain(more.iter().map(|&s| s.to_owned())).collect();
        let loaded = load(find("xmp/table1").expect("built in"), Profile::Quick, &set);
        let plan = resolve(&loaded.map_err(|e| e.to_string())?, &["scheme=video".to_owned()]);
        let case = plan.map_err(|e| e.to_string())?.cases.remove(0);
        let at = case.bound_schemes[0]
            .controllers
            .controller()
            .parameters()
            .iter()
            .position(|p| p.name == "weight");
        Ok(case.bound_schemes[0].controllers.values()[at.expect("holnet_cc_cos has a weight")])
    }

    /// THESIS Figure 2.3, case 1: alpha = 0.5, saturated rates of 400 and 100 Mbit/s, so that centers are as 4
    /// to 1 and weights as 2 to 1. A straight line to R has its center at R/2, alpha-fair with alpha = 0.5 at
    /// R/3: so 4/3 of 400 Mbit/s, to the power alpha.
    #[test]
    fn weights_are_as_centers_to_the_power_alpha() {
        let line = "points = [['0bps', 1], ['400Mbps', 5]]";
        assert_eq!(weight(&format!("{line}, base = '600Mbps'"), &[]), Ok(1000));
        assert_eq!(weight(&format!("{line}, base = '150Mbps'"), &[]), Ok(2000));
        // The square root's table: 400 points of it have its center, to the rounding of the weight.
        let points: Vec<String> =
            (0..=400).map(|i| format!("['{i}Mbps', {}]", f64::from(i).sqrt())).collect();
        let root =
            weight(&format!("points = [{}], base = '100Mbps'", points.join(", ")), &[]).expect("a weight");
        assert!(root.abs_diff(2000) <= 2, "{root}");
        // alpha = 0.8 has its center at R/6.
        let sharper = weight(&format!("{line}, base = '150Mbps'"), &["schemes.video.parameters.alpha=800"]);
        assert_eq!(sharper, Ok((1000.0 * 8f64.powf(0.8)).round() as u64));
    }

    #[test]
    fn what_gives_no_weight_is_told_with_its_place() {
        let bent = "points = [['0bps', 0], ['1Mbps', 1], ['2Mbps', 5]], base = '1Mbps'";
        let told = weight(bent, &[]).unwrap_err();
        assert!(told.starts_with("--set schemes.video.utility="), "{told}");
        assert!(
            told.contains("not concave above the minimum rate 0: its slope grows at rate 1000000"),
            "{told}"
        );
        assert!(told.contains("bit/s"), "{told}");
        // What a minimum rate guarantees need not be concave.
        assert!(weight(bent, &["schemes.video.parameters.min_rate=1000"]).is_ok());
        let line = "points = [['0bps', 0], ['400Mbps', 5]], base = '100Mbps'";
        let refused = |more: &str| weight(line, &[more]).unwrap_err();
        assert!(refused("schemes.video.parameters.weight=2000").contains("but it is given too"));
        assert!(refused("schemes.video.controller=xmp").contains("xmp has no weighted alpha-fair utility"));
        let none = weight("points = [['0bps', 0], ['400Mbps', 5]], base = '0bps'", &[]).unwrap_err();
        assert!(none.contains("base: the saturated rate = 0 is not a number above 0"), "{none}");
        let far = weight("points = [['0bps', 0], ['1Tbps', 5]], base = '1bps'", &[]).unwrap_err();
        assert!(far.contains("outside 0.001 to 1000"), "{far}");
    }
}

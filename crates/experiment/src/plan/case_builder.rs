//! From `[workloads.NAME]` to the parts of a case.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::{fmt, mem};

use indexmap::IndexMap;
use toml::Table;
use tresse_fabric::Topology;
use tresse_units::Time;

use crate::diagnostic::{Diagnostic, did_you_mean};
use crate::plan::applications::App;
use crate::plan::bound_scheme::{self, BoundScheme, OnFabric};
use crate::plan::capacities::Capacities;
use crate::plan::network::Routing;
use crate::plan::parts::{Carrier, Member, Part};
use crate::plan::patterns::workload_context::WorkloadContext;
use crate::plan::patterns::{Pattern, kind};
use crate::plan::{Case, Setting, flow_members};
use crate::read::Loaded;
use crate::schema::bounds::LONGEST;
use crate::schema::workload::Workload;

/// Builds the cases of an experiment.
pub(crate) struct Builder<'a> {
    pub loaded: &'a Loaded,
    variant: Option<&'a str>,
    setting: &'a Arc<Setting>,
    pub schemes: &'a IndexMap<&'a str, OnFabric>,
    capacities: &'a Capacities,
    /// The patterns that were built, by the keys that lead to them: they are the same for every scheme, and that of a
    /// collective may have millions of tasks.
    patterns: RefCell<BTreeMap<Vec<String>, Pattern>>,
}

/// The state of a case while its parts are built.
pub(crate) struct Building<'a> {
    /// The case's own scheme and its subflows.
    axis: Option<(&'a str, u32)>,
    uses_axis: bool,
    bound_schemes: Vec<BoundScheme>,
    groups: Vec<String>,
}

impl<'a> Builder<'a> {
    pub fn new(
        loaded: &'a Loaded,
        variant: Option<&'a str>,
        setting: &'a Arc<Setting>,
        schemes: &'a IndexMap<&'a str, OnFabric>,
        capacities: &'a Capacities,
    ) -> Self {
        Self { loaded, variant, setting, schemes, capacities, patterns: RefCell::default() }
    }

    /// The network.
    pub fn fabric(&self) -> &'a Topology {
        &self.setting.fabric
    }

    /// The case of a workload at a point of the axis, and whether that point matters to it.
    pub fn case(
        &self,
        name: &str,
        workload: &Workload,
        axis: Option<(&'a str, u32)>,
    ) -> Result<(Case, bool), Diagnostic> {
        let path = ["workloads", name];
        let mut building = Building { axis, uses_axis: false, bound_schemes: Vec::new(), groups: Vec::new() };
        let duration = workload.duration.map(|d| d.0);
        if duration.is_some_and(|d| d == 0 || d > LONGEST) {
            return Err(self.wrong(&path, "duration", "more than 0s and at most 1000s"));
        }
        let parts = self.parts(&path, workload, duration, &mut building)?;
        if duration.is_none() && parts.iter().all(|p| p.pattern.is_endless()) {
            let message = "it never ends: set `duration` to stop it (`tresse explain workloads`)";
            return Err(self.wrong(&path, "", message));
        }
        let Building { uses_axis, bound_schemes, groups, .. } = building;
        let balancers = bound_schemes.iter().filter_map(|c| match &*c.routing {
            Routing::Nodes { balancing, .. } => Some((balancing, &c.scheme)),
            Routing::Fixed(_) => None,
        });
        let balancers: Vec<_> = balancers.collect();
        if let Some((_, other)) = balancers.iter().find(|(b, _)| *b != balancers[0].0) {
            let (first, other) = (balancers[0].1, other);
            let message = format!(
                "`{first}` and `{other}` need different load balancing in the switches; a case has one"
            );
            return Err(self.wrong(&path, "", &message));
        }
        let (scheme, subflows) = match axis {
            Some((scheme, n)) if uses_axis => {
                (scheme.to_owned(), self.schemes[scheme].takes_subflows().then_some(n))
            }
            _ => {
                let mut labels: Vec<String> = bound_schemes.iter().map(BoundScheme::label).collect();
                labels.dedup();
                (labels.join("+"), None)
            }
        };
        let case = Case {
            scheme,
            subflows,
            pattern: name.to_owned(),
            variant: self.variant.map(str::to_owned),
            at: Vec::new(),
            setting: Arc::clone(self.setting),
            bound_schemes,
            parts,
            groups,
            duration,
        };
        Ok((case, uses_axis))
    }

    fn parts(
        &self,
        path: &[&str],
        workload: &Workload,
        duration: Option<Time>,
        building: &mut Building<'a>,
    ) -> Result<Vec<Part>, Diagnostic> {
        if workload.parts.is_empty() {
            return Ok(vec![self.part(path, "", workload, duration, building)?]);
        }
        let said = self.loaded.resolved["workloads"][path[1]].as_table().into_iter().flat_map(Table::keys);
        if let Some(key) = said.map(String::as_str).find(|k| !["parts", "duration", "class"].contains(k)) {
            return Err(self.wrong(path, key, "it has `parts`, each with its own keys"));
        }
        let mut parts = Vec::new();
        for (name, part) in &workload.parts {
            let path: Vec<&str> = [path, &["parts", name]].concat();
            if !part.parts.is_empty() {
                return Err(self.wrong(&path, "parts", "a part cannot have parts"));
            }
            if part.duration.is_some() {
                return Err(self.wrong(
                    &path,
                    "duration",
                    "the parts of a workload end together: set `duration` there",
                ));
            }
            parts.push(self.part(&path, name, part, duration, building)?);
        }
        Ok(parts)
    }

    fn part(
        &self,
        path: &[&str],
        name: &str,
        w: &Workload,
        duration: Option<Time>,
        building: &mut Building<'a>,
    ) -> Result<Part, Diagnostic> {
        let mut pattern = self.pattern(path, w, duration)?;
        let application = match &w.application {
            Some(application) => Some(
                App::new(application)
                    .map_err(|e| self.loaded.error(e.below("application").below_all(path)))?,
            ),
            None => None,
        };
        if w.persistent
            && let Some(message) = self.cannot_stay(&pattern, w)
        {
            return Err(self.wrong(path, "persistent", message));
        }
        let flows = mem::take(&mut pattern.flows);
        let who = if !flows.is_empty() {
            Carrier::Each(flow_members::own(self, (path, name), w, &flows, building)?)
        } else if w.mix.is_empty() {
            let bound_scheme = self.named(path, "scheme", w.scheme.as_deref(), w, building)?;
            let group = building.group(name);
            Carrier::One(Member { bound_scheme, group })
        } else {
            Carrier::Mix(self.mix(path, name, w, building)?)
        };
        let datagrams = pattern.datagrams;
        Ok(Part { name: name.to_owned(), pattern, who, application, datagrams, persistent: w.persistent })
    }

    fn pattern(
        &self,
        path: &[&str],
        workload: &Workload,
        duration: Option<Time>,
    ) -> Result<Pattern, Diagnostic> {
        let key: Vec<String> = path.iter().map(|part| (*part).to_owned()).collect();
        if let Some(known) = self.patterns.borrow().get(&key) {
            return Ok(known.clone());
        }
        let mss = self.schemes.values().map(|s| s.transport.mss).min().unwrap_or(1460);
        let (loaded, fabric, capacities) = (self.loaded, self.fabric(), self.capacities);
        let pattern =
            kind::build(&WorkloadContext { loaded, fabric, capacities, mss, path, workload, duration })?;
        self.patterns.borrow_mut().insert(key, pattern.clone());
        Ok(pattern)
    }

    /// Why a workload cannot have persistent connections, if it cannot.
    fn cannot_stay(&self, pattern: &Pattern, w: &Workload) -> Option<&'static str> {
        if !pattern.flows.is_empty() {
            return Some("each of these flows is a separate connection");
        }
        if w.application.is_some() || pattern.datagrams.is_some() {
            return Some(
                "messages that share a connection are written at once: leave out `application` and datagrams",
            );
        }
        self.setting.samples.is_some().then_some(
            "samples show what each connection delivers, but here several messages share one: leave out `samples`",
        )
    }

    fn mix(
        &self,
        path: &[&str],
        name: &str,
        w: &Workload,
        building: &mut Building<'a>,
    ) -> Result<Vec<Member>, Diagnostic> {
        if building.axis.is_none() && w.scheme.is_none() {
            let message = "these run alongside the case's own scheme, but no scheme has a case of its own: set `scheme`";
            return Err(self.wrong(path, "mix", message));
        }
        let own = self.named(path, "scheme", w.scheme.as_deref(), w, building)?;
        let mut members = vec![own];
        for scheme in &w.mix {
            members.push(self.named(path, "mix", Some(scheme), w, building)?);
        }
        let member = |bound_scheme: usize| {
            let label = building.bound_schemes[bound_scheme].label();
            let group = building.group(format!("{name} {label}").trim());
            Member { bound_scheme, group }
        };
        Ok(members.into_iter().map(member).collect())
    }

    /// The index of the bound scheme of the scheme `name`, or of the case's own, with this many subflows.
    pub fn with_subflows(
        &self,
        path: &[&str],
        name: Option<&str>,
        subflows: u32,
        w: &Workload,
        building: &mut Building<'a>,
    ) -> Result<usize, Diagnostic> {
        let name = match (name, building.axis) {
            (Some(name), _) => self.known(path, "scheme", name)?,
            (None, Some((name, _))) => {
                building.uses_axis = true;
                name
            }
            (None, None) => return Err(self.no_scheme(path)),
        };
        if subflows > 1 && !self.schemes[name].takes_subflows() {
            let message = format!("the path manager of `{name}` decides the number of subflows itself");
            return Err(self.wrong(path, "subflows", &message));
        }
        self.bind(path, name, subflows, w.class, building)
    }

    fn known(&self, path: &[&str], key: &str, name: &str) -> Result<&'a str, Diagnostic> {
        self.schemes.get_key_value(name).map(|(known, _)| *known).ok_or_else(|| {
            let names = self.schemes.keys().copied();
            let hint = did_you_mean(name, names.clone());
            let all = names.collect::<Vec<_>>().join(", ");
            self.wrong(path, key, &format!("there is no scheme `{name}`{hint} (available: {all})"))
        })
    }

    fn no_scheme(&self, path: &[&str]) -> Diagnostic {
        self.wrong(path, "", "every scheme has axis = false, so it needs its own `scheme`")
    }

    /// The index of the bound scheme of the scheme `name`, or of the case's own.
    pub fn named(
        &self,
        path: &[&str],
        key: &str,
        name: Option<&str>,
        w: &Workload,
        building: &mut Building<'a>,
    ) -> Result<usize, Diagnostic> {
        let (name, subflows) = match (name, building.axis) {
            (Some(name), axis) => {
                let known = self.known(path, key, name)?;
                match (&self.schemes[known].counts[..], axis) {
                    ([one], _) => (known, *one),
                    (_, Some((own, n))) if own == known => (known, n),
                    _ => {
                        let message = format!(
                            "`{name}` has several numbers of subflows; a scheme named here must have one"
                        );
                        return Err(self.wrong(path, key, &message));
                    }
                }
            }
            (None, Some(axis)) => {
                building.uses_axis = true;
                axis
            }
            (None, None) => return Err(self.no_scheme(path)),
        };
        self.bind(path, name, subflows, w.class, building)
    }

    /// The index of a bound scheme, which is created if it does not exist yet.
    pub fn bind(
        &self,
        path: &[&str],
        name: &str,
        subflows: u32,
        class: u8,
        building: &mut Building<'a>,
    ) -> Result<usize, Diagnostic> {
        let scheme = &self.schemes[name];
        let (class, at) = match scheme.scheme.class {
            Some(class) => (class, vec!["schemes", name, "class"]),
            None => (class, [path, &["class"]].concat()),
        };
        if usize::from(class) >= self.setting.options.classes() {
            let message = match self.setting.options.classes() {
                1 => format!("class {class}: without `fabric.classes` there is only class 0"),
                n => format!("class {class}: `fabric.classes` has 0 to {}", n - 1),
            };
            return Err(self.loaded.error_at(&at, &message));
        }
        let bound_scheme = bound_scheme::bind(self.loaded, self.fabric(), name, scheme, subflows, class)?;
        let is_same = |c: &BoundScheme| {
            c.scheme == bound_scheme.scheme && c.subflows == bound_scheme.subflows && c.class == class
        };
        Ok(building.bound_schemes.iter().position(is_same).unwrap_or_else(|| {
            building.bound_schemes.push(bound_scheme);
            building.bound_schemes.len() - 1
        }))
    }

    /// An error in a key of a workload; in the whole workload if there is no key.
    pub fn wrong(&self, path: &[&str], key: &str, message: &str) -> Diagnostic {
        let whole: &[&str] = if key.is_empty() { path } else { &[path, &[key]].concat() };
        self.loaded.error_at(whole, message)
    }
}

impl Building<'_> {
    /// The index of a group, which is created if it does not exist yet.
    pub fn group(&mut self, name: &str) -> usize {
        self.groups.iter().position(|g| g == name).unwrap_or_else(|| {
            self.groups.push(name.to_owned());
            self.groups.len() - 1
        })
    }

    /// The bound schemes so far.
    pub fn bound_schemes(&self) -> &[BoundScheme] {
        &self.bound_schemes
    }
}

impl fmt::Debug for Builder<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder").finish_non_exhaustive()
    }
}

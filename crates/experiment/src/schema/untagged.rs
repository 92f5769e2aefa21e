//! Reading values that may be written in more than one form.
//!
//! Written by hand, because serde's `untagged` loses what was wrong with a value, and where.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use indexmap::IndexMap;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserialize, Deserializer, Error, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use tresse_units::{Bytes, Duration};

use crate::diagnostic::did_you_mean;
use crate::schema::fabric::Layered;
use crate::schema::scheme::Counts;
use crate::schema::workload::{Draw, FlowSize, HostSet};

impl<T: Copy> Layered<T> {
    /// The values for the layers with these names.
    ///
    /// # Errors
    /// If a layer has no value, or there is no such layer.
    pub fn layers(&self, names: &[impl AsRef<str>]) -> Result<Vec<T>, String> {
        let each = match self {
            Self::All(v) => return Ok(vec![*v; names.len()]),
            Self::Each(each) => each,
        };
        self.known(names)?;
        let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
        let all = names.join(", ");
        if let Some(missing) = names.iter().find(|n| !each.contains_key(**n)) {
            return Err(format!("the layer `{missing}` has no value (available: {all})"));
        }
        Ok(names.iter().map(|&name| each[name]).collect())
    }

    /// The value for one layer, if there is one.
    pub fn of(&self, name: &str) -> Option<T> {
        match self {
            Self::All(v) => Some(*v),
            Self::Each(each) => each.get(name).copied(),
        }
    }

    /// Its values, to change them.
    pub(crate) fn values(&mut self) -> Box<dyn Iterator<Item = &mut T> + '_> {
        match self {
            Self::All(value) => Box::new(std::iter::once(value)),
            Self::Each(each) => Box::new(each.values_mut()),
        }
    }

    /// Checks that it only names these layers.
    ///
    /// # Errors
    /// If there is no such layer.
    pub fn known(&self, names: &[impl AsRef<str>]) -> Result<(), String> {
        let Self::Each(each) = self else { return Ok(()) };
        let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
        let Some(unknown) = each.keys().find(|k| !names.contains(&k.as_str())) else { return Ok(()) };
        let hint = did_you_mean(unknown, names.iter().copied());
        Err(format!("there is no layer `{unknown}`{hint} (available: {})", names.join(", ")))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Layered<T> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Shape<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Shape<T> {
            type Value = Layered<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("one value for all layers, or one for each, such as { rack = …, spine = … }")
            }
            fn visit_str<E: Error>(self, v: &str) -> Result<Layered<T>, E> {
                T::deserialize(v.into_deserializer()).map(Layered::All)
            }
            fn visit_i64<E: Error>(self, v: i64) -> Result<Layered<T>, E> {
                T::deserialize(v.into_deserializer()).map(Layered::All)
            }
            fn visit_f64<E: Error>(self, v: f64) -> Result<Layered<T>, E> {
                T::deserialize(v.into_deserializer()).map(Layered::All)
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Layered<T>, A::Error> {
                BTreeMap::deserialize(MapAccessDeserializer::new(map)).map(Layered::Each)
            }
        }
        d.deserialize_any(Shape(PhantomData))
    }
}

impl<'de> Deserialize<'de> for Counts {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Shape;
        impl<'de> Visitor<'de> for Shape {
            type Value = Counts;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number such as 2, or several such as [2, 4]")
            }
            fn visit_i64<E: Error>(self, v: i64) -> Result<Counts, E> {
                u32::deserialize(v.into_deserializer()).map(Counts::One)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Counts, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(seq)).map(Counts::Several)
            }
        }
        d.deserialize_any(Shape)
    }
}

impl<'de> Deserialize<'de> for FlowSize {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Shape;
        impl<'de> Visitor<'de> for Shape {
            type Value = FlowSize;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(
                    "a size such as \"64MB\", two such as [\"64MB\", \"512MB\"], or a distribution such as \
                     { distribution = \"websearch-hpcc\" }",
                )
            }
            fn visit_str<E: Error>(self, v: &str) -> Result<FlowSize, E> {
                Bytes::deserialize(v.into_deserializer()).map(FlowSize::Fixed)
            }
            fn visit_i64<E: Error>(self, v: i64) -> Result<FlowSize, E> {
                Bytes::deserialize(v.into_deserializer()).map(FlowSize::Fixed)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<FlowSize, A::Error> {
                let Pair([min, max]) = Deserialize::deserialize(SeqAccessDeserializer::new(seq))?;
                Ok(FlowSize::Uniform(min, max))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<FlowSize, A::Error> {
                Deserialize::deserialize(MapAccessDeserializer::new(map)).map(FlowSize::Drawn)
            }
        }
        d.deserialize_any(Shape)
    }
}

impl<'de> Deserialize<'de> for Draw {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Shape;
        impl<'de> Visitor<'de> for Shape {
            type Value = Draw;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a time such as \"20ms\", or how it is drawn, such as { exponential = \"20ms\" }")
            }
            fn visit_str<E: Error>(self, v: &str) -> Result<Draw, E> {
                Duration::deserialize(v.into_deserializer()).map(Draw::Fixed)
            }
            fn visit_i64<E: Error>(self, v: i64) -> Result<Draw, E> {
                Duration::deserialize(v.into_deserializer()).map(Draw::Fixed)
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Draw, A::Error> {
                Deserialize::deserialize(MapAccessDeserializer::new(map)).map(Draw::Mean)
            }
        }
        d.deserialize_any(Shape)
    }
}

impl<'de> Deserialize<'de> for HostSet {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Shape;
        impl<'de> Visitor<'de> for Shape {
            type Value = HostSet;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("hosts such as \"host 3\", \"rack 0\" or \"0..50\", or a list of them")
            }
            fn visit_str<E: Error>(self, v: &str) -> Result<HostSet, E> {
                Ok(HostSet::One(v.to_owned()))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<HostSet, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(seq)).map(HostSet::Several)
            }
        }
        d.deserialize_any(Shape)
    }
}

/// A list of two. Written by hand, because otherwise a longer list would be read, and the rest ignored.
pub(crate) struct Pair<T>(pub [T; 2]);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Pair<T> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let all = Vec::deserialize(d)?;
        let length = all.len();
        all.try_into().map(Pair).map_err(|_| Error::custom(format!("expected a list of 2, found {length}")))
    }
}

/// Two values, for a key that is such a list.
pub(crate) fn pair<'de, T: Deserialize<'de>, D: Deserializer<'de>>(d: D) -> Result<[T; 2], D::Error> {
    Pair::deserialize(d).map(|pair| pair.0)
}

/// The same for an optional key.
pub(crate) fn some_pair<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    d: D,
) -> Result<Option<[T; 2]>, D::Error> {
    pair(d).map(Some)
}

/// Such lists by name.
pub(crate) fn pairs<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    d: D,
) -> Result<IndexMap<String, [T; 2]>, D::Error> {
    let read = IndexMap::<String, Pair<T>>::deserialize(d)?;
    Ok(read.into_iter().map(|(name, pair)| (name, pair.0)).collect())
}

//! The values of a stored column, whatever its type.

use std::borrow::Cow;

use arrow_array::cast::AsArray;
use arrow_array::types::{UInt32Type, UInt64Type};
use arrow_array::{Array, BooleanArray, StringArray, UInt32Array, UInt64Array};

/// The values of a column of a stored table.
#[derive(Debug, Clone, Copy)]
pub enum Values<'a> {
    /// Text.
    Text(&'a StringArray),
    /// Yes or no.
    Flags(&'a BooleanArray),
    /// Whole numbers.
    U32(&'a UInt32Array),
    /// Whole numbers.
    U64(&'a UInt64Array),
}

impl<'a> Values<'a> {
    /// Those of `column`.
    ///
    /// # Errors
    /// If no table has columns of its type.
    pub fn of(column: &'a dyn Array) -> Result<Self, String> {
        let text = || column.as_string_opt().map(Self::Text);
        let flags = || column.as_boolean_opt().map(Self::Flags);
        let small = || column.as_primitive_opt::<UInt32Type>().map(Self::U32);
        let large = || column.as_primitive_opt::<UInt64Type>().map(Self::U64);
        text().or_else(flags).or_else(small).or_else(large).ok_or_else(|| {
            let kind = column.data_type();
            format!("its type is {kind}: did another version of this program write it?")
        })
    }

    /// The value in a row, as text; `None` if it is missing.
    pub fn text(self, row: usize) -> Option<Cow<'a, str>> {
        match self {
            Self::Text(own) => own.is_valid(row).then(|| own.value(row).into()),
            Self::Flags(own) => own.is_valid(row).then(|| own.value(row).to_string().into()),
            Self::U32(own) => own.is_valid(row).then(|| own.value(row).to_string().into()),
            Self::U64(own) => own.is_valid(row).then(|| own.value(row).to_string().into()),
        }
    }

    /// All values as numbers, yes as 1 and no as 0; `None` if they are text.
    pub fn numbers(self) -> Option<UInt64Array> {
        match self {
            Self::Text(_) => None,
            Self::Flags(own) => Some(own.iter().map(|value| value.map(u64::from)).collect()),
            Self::U32(own) => Some(own.unary(u64::from)),
            Self::U64(own) => Some(own.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::Int32Array;

    use super::*;

    #[test]
    fn values_of_every_type_are_text_and_numbers() {
        let text = StringArray::from(vec![Some("xmp"), Some(""), None]);
        let flags = BooleanArray::from(vec![Some(true), Some(false), None]);
        let small = UInt32Array::from(vec![Some(7), Some(u32::MAX), None]);
        let large = UInt64Array::from(vec![Some(0), Some(u64::MAX), None]);
        let columns: [(&dyn Array, _, _); 4] = [
            (&text, ["xmp", ""], None),
            (&flags, ["true", "false"], Some([1, 0])),
            (&small, ["7", "4294967295"], Some([7, 4_294_967_295])),
            (&large, ["0", "18446744073709551615"], Some([0, u64::MAX])),
        ];
        for (column, shown, numbers) in columns {
            let values = Values::of(column).expect("a type of the tables");
            let texts: Vec<Option<Cow<str>>> = (0..3).map(|row| values.text(row)).collect();
            assert_eq!(texts, [Some(shown[0].into()), Some(shown[1].into()), None]);
            let numbers = numbers.map(|[a, b]| UInt64Array::from(vec![Some(a), Some(b), None]));
            assert_eq!(values.numbers(), numbers);
        }
    }

    #[test]
    fn another_type_is_an_error() {
        let error = Values::of(&Int32Array::from(vec![1])).expect_err("no table has it");
        assert!(error.starts_with("its type is Int32"), "{error}");
    }
}

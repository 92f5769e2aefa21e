//! Unchanged tables, in CSV and Arrow; and what cannot be exported.

use std::io::Cursor;

use arrow_ipc::reader::FileReader;
use arrow_select::concat::concat_batches;
use tresse_exchange::export::Format;
use tresse_results::tables;

use super::{batch, exported, exported_from, rows, text, without};

#[test]
fn csv_and_arrow_have_every_table() {
    for table in tables::names() {
        let there = batch(table);
        assert!(there.num_rows() > 0, "{table}");

        let bytes = exported(Format::Arrow, Some(table), &[]).expect("it is there");
        assert_eq!(Ok(&bytes), exported(Format::Arrow, Some(table), &[]).as_ref(), "{table}");
        let reader = FileReader::try_new(Cursor::new(bytes), None).expect("an Arrow file");
        let schema = reader.schema();
        let batches: Vec<_> = reader.collect::<Result<_, _>>().expect("whole batches");
        // Types, units and meanings too.
        assert_eq!(schema.fields(), there.schema().fields(), "{table}");
        assert_eq!(concat_batches(&schema, &batches).expect("one schema").columns(), there.columns());

        let csv = String::from_utf8(exported(Format::Csv, Some(table), &[]).expect("it is there"));
        let csv = csv.expect("UTF-8");
        let mut lines = csv.lines();
        let names: Vec<String> = there.schema().fields().iter().map(|f| f.name().clone()).collect();
        assert_eq!(lines.next().expect("names"), names.join(","));
        for row in 0..there.num_rows() {
            let values: Vec<String> = there.columns().iter().map(|column| text(column, row)).collect();
            // Nothing in this run needs quotes.
            assert_eq!(lines.next().expect("a line for each row"), values.join(","), "{table}");
        }
        assert_eq!(lines.next(), None);
    }
}

#[test]
fn only_filters_every_table() {
    for table in tables::names() {
        let all = batch(table).num_rows();
        let own = rows(table, "xmp").len();
        assert!(0 < own && own < all, "{table}: {own} of {all}");
        let scheme = rows(table, "xmp")[0].text("scheme").to_owned();
        let only = format!("scheme={scheme}");
        let csv = exported(Format::Csv, Some(table), &[&only]).expect("rows");
        assert_eq!(String::from_utf8(csv).expect("UTF-8").lines().count(), 1 + own, "{table}");
        let bytes = exported(Format::Arrow, Some(table), &[&only]).expect("rows");
        let reader = FileReader::try_new(Cursor::new(bytes), None).expect("an Arrow file");
        assert_eq!(reader.map(|b| b.expect("a batch").num_rows()).sum::<usize>(), own, "{table}");
    }
    let large = exported(Format::Csv, None, &["group=large"]).expect("rows");
    let large = String::from_utf8(large).expect("UTF-8");
    let own = ["xmp", "lia"].map(|scheme| rows("flows", scheme)).into_iter().flatten();
    assert_eq!(large.lines().count(), 1 + own.filter(|row| row.text("group") == "large").count());
}

#[test]
fn what_cannot_be_exported_is_told() {
    let refused = |format, table, only: &[&str]| exported(format, table, only).expect_err("refused");
    let unknown = refused(Format::Csv, Some("sample"), &[]);
    assert!(unknown.contains("there is no table `sample`; did you mean `samples`?"), "{unknown}");
    let whole = refused(Format::Perfetto, Some("flows"), &[]);
    assert!(whole.contains("only `csv` and `arrow` have one table"), "{whole}");
    let key = refused(Format::Arrow, Some("links"), &["group=large"]);
    assert!(key.contains("there is no key `group`"), "{key}");
    for format in [Format::Perfetto, Format::Qlog, Format::Flent, Format::Csv, Format::Arrow] {
        let none = refused(format, None, &["scheme=olia"]);
        assert!(none.contains("no row has scheme = olia; did you mean `lia`?"), "{none}");
    }
    for format in [Format::Qlog, Format::Flent] {
        let several = refused(format, None, &[]);
        assert!(several.contains("has room for one case and seed, but there are 2; choose one"), "{several}");
        let dir = without("samples");
        let missing = exported_from(dir.path(), format, None, &[]).expect_err("there are no samples");
        assert!(missing.contains("the run has no samples.parquet"), "{missing}");
        assert!(missing.contains("`[measure] samples = \"1ms\"`"), "{missing}");
    }
    let dir = without("flows");
    let running = exported_from(dir.path(), Format::Qlog, None, &[]).expect_err("it has not ended");
    assert!(running.contains("flows.parquet: does not exist"), "{running}");
}

//! The alternatives to rtflash's own output in the schemas: sizes, rates and the names of
//! datasheets.

use schemars::Schema;
use serde_json::{Map, Value, json};

fn has(field: &str) -> Value {
    json!({ "required": [field], "properties": { field: { "not": { "type": "null" } } } })
}

fn either(one: &str, other: &str) -> Value {
    json!({ "anyOf": [has(one), has(other)] })
}

fn not_both(one: &str, other: &str) -> Value {
    json!({ "not": { "allOf": [has(one), has(other)] } })
}

fn bytes(description: &str) -> Value {
    json!({
        "description": description,
        "type": ["string", "null"],
        "pattern": "^\\s*[0-9]*[1-9][0-9]*\\s*(B|kB|KB|MB|GB|TB|KiB|MiB|GiB|TiB)\\s*$"
    })
}

fn properties(schema: &mut Schema) -> Option<&mut Map<String, Value>> {
    schema.get_mut("properties")?.as_object_mut()
}

fn insert(schema: &mut Schema, field: &str, value: Value) {
    if let Some(properties) = properties(schema) {
        properties.insert(field.to_owned(), value);
    }
}

/// The rules beside all else.
fn require(schema: &mut Schema, rules: Vec<Value>) {
    schema.insert("allOf".to_owned(), Value::Array(rules));
}

fn make_optional(schema: &mut Schema, fields: &[&str]) {
    if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|name| !fields.iter().any(|field| name == field));
    }
    if schema.get("required").and_then(Value::as_array).is_some_and(Vec::is_empty) {
        schema.remove("required");
    }
    for field in fields {
        let Some(value) = properties(schema).and_then(|properties| properties.get_mut(*field)) else { continue };
        let whole = value.take();
        *value = json!({ "anyOf": [whole, { "type": "null" }] });
    }
}

pub(super) fn request(schema: &mut Schema) {
    make_optional(schema, &["pages", "period"]);
    insert(schema, "size", bytes("Bytes a request, in the place of `pages`: as many pages as they fill."));
    let every = json!({
        "description": "T, in the place of `period`: it may be a share such as \"1/30s\", rounded down to nanoseconds.",
        "anyOf": [{ "$ref": "#/$defs/TimeOrShare" }, { "type": "null" }]
    });
    insert(schema, "every", every);
    let rate = json!({
        "description": "Bytes a second: with an amount the period follows, rounded down; with a period the pages, \
                        rounded up.",
        "type": ["string", "null"],
        "pattern": "^\\s*[0-9]*[1-9][0-9]*\\s*(B|kB|KB|MB|GB|TB|KiB|MiB|GiB|TiB)\\s*/s\\s*$"
    });
    insert(schema, "rate", rate);
    let (amount, period, rate) = (either("pages", "size"), either("period", "every"), has("rate"));
    let two = json!({ "oneOf": [
        { "allOf": [amount, period] }, { "allOf": [amount, rate] }, { "allOf": [period, rate] }
    ] });
    require(schema, vec![not_both("pages", "size"), not_both("period", "every"), two]);
}

pub(super) fn task(schema: &mut Schema) {
    insert(
        schema,
        "data_size",
        bytes("Bytes that it keeps, in the place of `data_pages`: as many pages as they fill."),
    );
    require(schema, vec![not_both("data_pages", "data_size")]);
}

pub(super) fn job(schema: &mut Schema) {
    insert(schema, "read_size", bytes("Bytes that each job reads, in the place of `read_pages`."));
    insert(schema, "write_size", bytes("Bytes that each job writes, in the place of `write_pages`."));
    let some =
        |field: &str| json!({ "required": [field], "properties": { field: { "type": "integer", "minimum": 1 } } });
    let moves = json!({ "anyOf": [some("read_pages"), some("write_pages"), has("read_size"), has("write_size")] });
    require(schema, vec![moves, not_both("read_pages", "read_size"), not_both("write_pages", "write_size")]);
}

/// The first [`TIMES`] are times of datasheets, which a device without a profile has to have.
pub(super) const NAMES: [(&str, &str); 5] = [
    ("page_read", "tR"),
    ("page_program", "tPROG"),
    ("block_erase", "tBERS"),
    ("page_registers", "cache_register"),
    ("wear_gap", "wear_threshold"),
];

const TIMES: usize = 3;

fn second_names(schema: &mut Schema) {
    for (ours, theirs) in NAMES {
        let same = properties(schema).and_then(|properties| properties.get(ours).cloned());
        insert(schema, theirs, same.unwrap_or(Value::Bool(true)));
    }
    let cache_register = json!({
        "description": "Whether chips sense or program a page while a cache register moves another one; left out, no.",
        "type": ["boolean", "null"]
    });
    insert(schema, "cache_register", cache_register);
    let page_size = json!({
        "description": "Bytes in a page: a number, or a size with its unit.",
        "anyOf": [{ "type": ["integer", "null"], "minimum": 1, "maximum": u32::MAX }, bytes("As a size.")]
    });
    insert(schema, "page_size", page_size);
}

/// A device like a profile, its fields by either name.
pub(super) fn changed_device(schema: &mut Schema) {
    second_names(schema);
    require(schema, NAMES.map(|(ours, theirs)| not_both(ours, theirs)).to_vec());
}

pub(super) fn full_device(schema: &mut Schema) {
    second_names(schema);
    insert(schema, "profile", json!({ "description": "None: all fields are here.", "type": "null" }));
    if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|name| !NAMES.iter().any(|(ours, _)| name == ours));
    }
    let one = |&(ours, theirs): &(&str, &str)| json!({ "oneOf": [{ "required": [ours] }, { "required": [theirs] }] });
    let (times, others) = NAMES.split_at(TIMES);
    let others = others.iter().map(|&(ours, theirs)| not_both(ours, theirs));
    require(schema, times.iter().map(one).chain(others).chain([has("page_size")]).collect());
}

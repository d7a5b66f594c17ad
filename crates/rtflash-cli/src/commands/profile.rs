//! `rtflash profile`: the devices that have a name.

use std::fmt::Write as _;

use rtflash_model::reading::nearest;
use rtflash_model::{Device, PROFILES, Profile, write_device_in_full};
use serde_json::value::RawValue;

use crate::answer::Status;
use crate::args::Format;
use crate::{CommandFailure, output};

pub fn run(name: Option<&str>, format: Format) -> Result<Status, CommandFailure> {
    let text = match name {
        Some(name) => one(find(name)?, format),
        None => list(format),
    };
    output::print(&text?)?;
    Ok(Status::Yes)
}

fn find(name: &str) -> Result<&'static Profile, CommandFailure> {
    let found = PROFILES.iter().find(|profile| profile.name == name);
    found.ok_or_else(|| {
        let near = nearest(name, PROFILES.iter().map(|profile| profile.name));
        let hint = match near {
            Some(position) => format!("did you mean `{}`?", PROFILES[position].name),
            None => "`rtflash profile` lists them".to_owned(),
        };
        CommandFailure(format!("there is no device profile `{name}`: {hint}"))
    })
}

fn in_full(profile: &Profile) -> Result<Box<RawValue>, CommandFailure> {
    let device = Device::new(profile.spec()).map_err(|_| CommandFailure(format!("`{}` is no device", profile.name)))?;
    RawValue::from_string(write_device_in_full(&device)).map_err(|error| CommandFailure(error.to_string()))
}

/// As a device of a task set: over several lines for people, on one as JSON.
fn one(profile: &Profile, format: Format) -> Result<String, CommandFailure> {
    let device = in_full(profile)?;
    Ok(match format {
        Format::Json => format!("{device}\n"),
        Format::Text => in_lines(device.get()),
    })
}

pub fn in_lines(device: &str) -> String {
    let fields = device.trim_matches(['{', '}']).replace(",\"", ",\n  \"").replace("\":", "\": ");
    format!("{{\n  {fields}\n}}\n")
}

fn list(format: Format) -> Result<String, CommandFailure> {
    let mut text = String::new();
    for profile in PROFILES {
        match format {
            Format::Text => {
                let _ = writeln!(text, "{}\n    {}", profile.name, profile.source);
            }
            Format::Json => {
                let (name, source) = (profile.name, profile.source);
                let _ = writeln!(
                    text,
                    r#"{{"format":1,"name":{name:?},"source":{source:?},"device":{}}}"#,
                    in_full(profile)?
                );
            }
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use rtflash_model::read_device;

    use super::*;

    #[test]
    fn what_is_printed_is_read() {
        for profile in PROFILES {
            for format in [Format::Text, Format::Json] {
                let text = one(profile, format).unwrap();
                assert_eq!(read_device(&text).unwrap().spec(), profile.spec(), "{text}");
            }
        }
        let lines = list(Format::Json).unwrap();
        assert_eq!(
            lines.lines().filter(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()).count(),
            PROFILES.len()
        );
        assert!(find("dgist2021").is_err_and(|failure| failure.0.contains("`dgist-2021`")));
    }
}

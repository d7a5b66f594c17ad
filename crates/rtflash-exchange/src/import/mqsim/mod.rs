//! MQSim's configuration of an SSD (Tavakkol and others, "MQSim", FAST 2018): `ssdconfig.xml`.

mod parameters;

use std::collections::HashSet;
use std::ops::Range;

use roxmltree::{Document, Node};
use rtflash_model::{Device, DeviceSpec, Diagnostic, Diagnostics, LogicalRatio, Path, Span};

use self::parameters::{DEVICE_PARAMETERS, FLASH_PARAMETERS, not_kept};

/// Time of commands and addresses around a page in MQSim's NV-DDR2 channel, at most: a program's
/// tCS + 6 tWC + tADL + tWPST + tWPSTH + tWB with the values that MQSim has compiled in, in ns. A
/// read's is 320.
pub const COMMANDS_NS: u64 = 20 + 6 * 25 + 70 + 6 + 15 + 100;

/// The device that a configuration describes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SsdConfig {
    /// The device.
    pub device: Device,
    /// The parts of it that a device cannot keep, each with its substitute: sentences.
    pub not_kept: Vec<String>,
}

/// Bytes of a file, at most: what is larger is no configuration.
const MAX_FILE: usize = 1 << 20;

/// The text behind blank lines and comments: MQSim reads over them in front of the declaration,
/// where XML forbids them.
fn behind_comments(whole: &str) -> &str {
    const BLANK: fn(char) -> bool = |c| c.is_whitespace() || c == '\u{feff}';
    let mut text = whole.trim_start_matches(BLANK);
    while let Some((_, behind)) = text.strip_prefix("<!--").and_then(|comment| comment.split_once("-->")) {
        text = behind.trim_start_matches(BLANK);
    }
    text
}

/// Reads a configuration.
///
/// A chip is a die, and a die of several planes works on one of them at a time: so it never does
/// less than is promised. Latencies are the longest of the three kinds of pages. The transfer of a
/// page is its bytes at `Channel_Transfer_Rate` (millions of transfers a second, each as wide as
/// the channel), rounded up, and [`COMMANDS_NS`]; λ is 1 − `Overprovisioning_Ratio`. Decimals of a
/// rate are cut, as MQSim cuts them, and those of a latency are rounded up.
///
/// The error is all that is wrong. A parameter that is missing is: MQSim's own defaults are not
/// supposed. One that MQSim does not have is, too: it can change what the device does.
pub fn read_ssd_config(whole: &str) -> Result<SsdConfig, Diagnostics> {
    let text = behind_comments(whole);
    let mut reader = ConfigReader { faults: Vec::new(), text, skipped: whole.len() - text.len() };
    if text.len() > MAX_FILE {
        reader.refuse(0..0, format!("a file of {} bytes", text.len()), "a configuration of MQSim");
        return Err(Diagnostics::new(reader.faults));
    }
    let config = match Document::parse(text) {
        Ok(document) => reader.document(&document),
        Err(error) => {
            let at = place_of(text, error.pos());
            reader.refuse(at..at, format!("not XML: {error}"), "a configuration of MQSim");
            None
        }
    };
    match config {
        Some(config) if reader.faults.is_empty() => Ok(config),
        _ => Err(Diagnostics::new(reader.faults)),
    }
}

/// The byte at which a row and a column of a text are, both from 1.
fn place_of(text: &str, place: roxmltree::TextPos) -> usize {
    let line = text.split_inclusive('\n').nth(place.row as usize - 1).unwrap_or("");
    let begin = text.split_inclusive('\n').take(place.row as usize - 1).map(str::len).sum::<usize>();
    let column = line.char_indices().nth(place.col as usize - 1).map_or(line.len(), |(byte, _)| byte);
    (begin + column).min(text.len())
}

struct ConfigReader<'t> {
    faults: Vec<Diagnostic>,
    text: &'t str,
    /// Bytes of the file in front of the text.
    skipped: usize,
}

/// How the decimals of a number are read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Decimals {
    /// Zeros alone are taken.
    Zeros,
    Cut,
    RoundedUp,
}

#[derive(Clone, Copy)]
struct Parameters<'a, 'i> {
    device: Node<'a, 'i>,
    flash: Node<'a, 'i>,
}

fn child<'a, 'i>(of: Node<'a, 'i>, name: &str) -> Option<Node<'a, 'i>> {
    of.children().find(|node| node.has_tag_name(name))
}

impl ConfigReader<'_> {
    fn refuse(&mut self, range: Range<usize>, problem: impl Into<String>, expected: impl Into<String>) {
        let (problem, expected) = (problem.into(), expected.into());
        let range = range.start + self.skipped..range.end + self.skipped;
        self.faults.push(Diagnostic { range, path: Path::root(), problem, expected });
    }

    fn document(&mut self, document: &Document<'_>) -> Option<SsdConfig> {
        let root = document.root_element();
        let device = root.descendants().find(|node| node.has_tag_name("Device_Parameter_Set"));
        let Some(device) = device else {
            self.refuse(
                start_of(root, self.text),
                "no `Device_Parameter_Set`",
                "a configuration of MQSim (`ssdconfig.xml`)",
            );
            return None;
        };
        let Some(flash) = child(device, "Flash_Parameter_Set") else {
            self.refuse(start_of(device, self.text), "no `Flash_Parameter_Set`", "the parameters of the flash");
            return None;
        };
        if let Some(above) = device.parent_element() {
            self.refuse_others(above, &["Host_Parameter_Set", "Device_Parameter_Set"]);
        }
        self.refuse_others(device, &DEVICE_PARAMETERS);
        self.refuse_others(flash, &FLASH_PARAMETERS);
        self.refuse_kinds(Parameters { device, flash });
        let parameters = Parameters { device, flash };
        let spec = self.spec(parameters)?;
        let not_kept = not_kept(parameters);
        match Device::new(spec) {
            Ok(device) => Some(SsdConfig { device, not_kept }),
            Err(wrong) => {
                for fault in wrong {
                    let problem = format!("as a device it has a wrong `{}`: {}", fault.path, fault.problem);
                    self.refuse(start_of(flash, self.text), problem, fault.expected);
                }
                None
            }
        }
    }

    /// Refuses parameters that are not known: MQSim reads over them, and a device that they
    /// describe is another one. Refuses one that is there twice: MQSim takes the last value.
    fn refuse_others(&mut self, of: Node<'_, '_>, known: &[&str]) {
        let mut seen = HashSet::new();
        for node in of.children().filter(Node::is_element) {
            let name = node.tag_name().name();
            if !known.contains(&name) {
                let expected = "MQSim's parameters alone: remove it if the device is the same without it";
                self.refuse(start_of(node, self.text), format!("unknown parameter `{name}`"), expected);
            } else if !seen.insert(name.to_owned()) {
                self.refuse(start_of(node, self.text), format!("`{name}` twice"), "each parameter once");
            }
        }
    }

    /// Refuses kinds of memory, of channels and of cells that MQSim does not have, and latencies of
    /// pages that its cells have and that are missing.
    fn refuse_kinds(&mut self, Parameters { device, flash }: Parameters<'_, '_>) {
        let cells = ["SLC", "MLC", "TLC"];
        let choices: [(Node<'_, '_>, &str, &[&str]); 3] = [
            (device, "Memory_Type", &["FLASH"]),
            (device, "Flash_Comm_Protocol", &["NVDDR2"]),
            (flash, "Flash_Technology", &cells),
        ];
        for (of, name, known) in choices {
            let Some(node) = child(of, name) else { continue };
            let text = node.text().unwrap_or("").trim();
            if !known.contains(&text.to_uppercase().as_str()) {
                let expected = format!("{}, as MQSim has it", known.join(" or "));
                self.refuse(start_of(node, self.text), format!("`{name}` is `{text}`"), expected);
            }
        }
        let cell = child(flash, "Flash_Technology").and_then(|node| node.text()).map(|text| text.trim().to_uppercase());
        let kinds: &[&str] = match cell.as_deref() {
            Some("MLC") => &["MSB"],
            Some("TLC") => &["CSB", "MSB"],
            _ => &[],
        };
        for of in ["Page_Read_Latency", "Page_Program_Latency"] {
            for kind in kinds {
                self.text(flash, &format!("{of}_{kind}"));
            }
        }
    }

    fn spec(&mut self, parameters: Parameters<'_, '_>) -> Option<DeviceSpec> {
        let Parameters { device, flash } = parameters;
        let [channels, width, ways] =
            ["Flash_Channel_Count", "Flash_Channel_Width", "Chip_No_Per_Channel"].map(|name| self.count(device, name));
        let rate = self.number(device, "Channel_Transfer_Rate", Decimals::Cut);
        let [dies, planes, blocks, pages, page_size] =
            ["Die_No_Per_Chip", "Plane_No_Per_Die", "Block_No_Per_Plane", "Page_No_Per_Block", "Page_Capacity"]
                .map(|name| self.count(flash, name));
        let read = self.longest(flash, "Page_Read_Latency");
        let program = self.longest(flash, "Page_Program_Latency");
        let erase = self.number(flash, "Block_Erase_Latency", Decimals::RoundedUp);
        let cycles = self.count(flash, "Block_PE_Cycles_Limit");
        let ratio = self.logical_ratio(device);
        let per_channel = self.product(flash, [ways?, dies?, 1], "chips on a channel");
        let chips = self.product(flash, [channels?, ways?, dies?], "chips");
        let blocks = self.product(flash, [planes?, blocks?, 1], "blocks of a chip");
        let pages = self.product(flash, [pages?, 1, 1], "pages of a block");
        let page_size = self.product(flash, [page_size?, 1, 1], "bytes of a page");
        // At a million transfers a second a byte takes 1000 / rate ns for each byte of width.
        let transfers = u64::from(page_size?).div_ceil(width?).checked_mul(1_000)?;
        let transfer = transfers.div_ceil(rate?) + COMMANDS_NS;
        Some(DeviceSpec {
            chips: chips?,
            chips_per_channel: per_channel?,
            blocks_per_chip: blocks?,
            pages_per_block: pages?,
            page_size: page_size?,
            logical_ratio: ratio?,
            page_read: self.time(flash, read?)?,
            page_program: self.time(flash, program?)?,
            block_erase: self.time(flash, erase?)?,
            page_transfer: self.time(flash, transfer)?,
            erase_cycles: Some(self.product(flash, [cycles?, 1, 1], "erase cycles")?),
            page_read_includes_transfer: Some(false),
            page_program_includes_transfer: Some(false),
            ..DeviceSpec::default()
        })
    }

    fn text<'a>(&mut self, of: Node<'a, '_>, name: &str) -> Option<(&'a str, Range<usize>)> {
        let Some(node) = child(of, name) else {
            let problem = format!("no `{name}`");
            self.refuse(start_of(of, self.text), problem, "every parameter that the device is made of");
            return None;
        };
        Some((node.text().unwrap_or("").trim(), start_of(node, self.text)))
    }

    fn count(&mut self, of: Node<'_, '_>, name: &str) -> Option<u64> {
        self.number(of, name, Decimals::Zeros)
    }

    /// A number of at least one.
    fn number(&mut self, of: Node<'_, '_>, name: &str, decimals: Decimals) -> Option<u64> {
        let (text, range) = self.text(of, name)?;
        let number = rounded(text, decimals).filter(|number| *number > 0);
        if number.is_none() {
            self.refuse(range, format!("`{name}` is `{text}`"), "a whole number of at least 1");
        }
        number
    }

    /// The longest of the latencies of the three kinds of pages. A kind that is not there is one
    /// that these cells do not have; the first is always there.
    fn longest(&mut self, flash: Node<'_, '_>, of: &str) -> Option<u64> {
        let first = self.number(flash, &format!("{of}_LSB"), Decimals::RoundedUp);
        let others = ["CSB", "MSB"].map(|kind| {
            let name = format!("{of}_{kind}");
            child(flash, &name).is_some().then(|| self.number(flash, &name, Decimals::RoundedUp))
        });
        others.into_iter().flatten().try_fold(first?, |longest, latency| Some(longest.max(latency?)))
    }

    /// λ = 1 − the ratio, exactly.
    fn logical_ratio(&mut self, device: Node<'_, '_>) -> Option<LogicalRatio> {
        let (text, range) = self.text(device, "Overprovisioning_Ratio")?;
        let ratio =
            one_less(text).and_then(|(numerator, decimals)| LogicalRatio::from_decimal(numerator, decimals).ok());
        if ratio.is_none() {
            let problem = format!("`Overprovisioning_Ratio` is `{text}`");
            self.refuse(range, problem, "a decimal above 0 and below 1, such as 0.07");
        }
        ratio
    }

    fn product(&mut self, at: Node<'_, '_>, factors: [u64; 3], what: &str) -> Option<u32> {
        let product = factors.into_iter().try_fold(1_u64, u64::checked_mul);
        let fits = product.and_then(|product| u32::try_from(product).ok());
        if fits.is_none() {
            self.refuse(start_of(at, self.text), format!("too many {what}"), format!("fewer than 2^32 {what}"));
        }
        fits
    }

    fn time(&mut self, at: Node<'_, '_>, ns: u64) -> Option<Span> {
        let span = Span::from_ns(ns);
        if span.is_none() {
            self.refuse(start_of(at, self.text), format!("a time of {ns} ns"), "less than 2^63 ns");
        }
        span
    }
}

/// The place of an element's begin: its name in angle brackets.
fn start_of(node: Node<'_, '_>, text: &str) -> Range<usize> {
    let range = node.range();
    let length = text[range.clone()].find('>').map_or(range.len(), |end| end + 1);
    range.start..range.start + length
}

/// A decimal such as `333` or `333.5` as a whole number.
fn rounded(text: &str, decimals: Decimals) -> Option<u64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !is_digits(whole) || !is_digits(part) {
        return None;
    }
    let whole: u64 = whole.parse().ok()?;
    let is_whole = part.bytes().all(|digit| digit == b'0');
    match decimals {
        Decimals::Zeros if !is_whole => None,
        Decimals::RoundedUp if !is_whole => whole.checked_add(1),
        _ => Some(whole),
    }
}

/// One less a decimal of the form `0.07`, as a number and its decimals.
fn one_less(text: &str) -> Option<(u128, u32)> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let decimals = decimals.trim_end_matches('0');
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !whole.bytes().all(|byte| byte == b'0') || !digits(decimals) || decimals.len() > 30 {
        return None;
    }
    let places = u32::try_from(decimals.len()).ok()?;
    let spare: u128 = if decimals.is_empty() { 0 } else { decimals.parse().ok()? };
    Some((10_u128.pow(places) - spare, places))
}

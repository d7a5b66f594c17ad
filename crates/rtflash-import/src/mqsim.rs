//! MQSim's configuration of an SSD (Tavakkol and others, "MQSim", FAST 2018): `ssdconfig.xml`.

use std::collections::HashSet;
use std::ops::Range;

use roxmltree::{Document, Node};
use rtflash_model::{Device, DeviceSpec, Diagnostic, Diagnostics, LogicalRatio, Path, Span};

/// Time of commands and addresses around a page in MQSim's NV-DDR2 channel, at most: a program's
/// tCS + 6 tWC + tADL + tWPST + tWPSTH + tWB with the values that MQSim has compiled in, in ns. A
/// read's is 320.
pub const COMMANDS_NS: u64 = 20 + 6 * 25 + 70 + 6 + 15 + 100;

/// What a configuration says that a device has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SsdConfig {
    /// The device.
    pub device: Device,
    /// What of it a device cannot keep, and what stands in its place: sentences.
    pub not_kept: Vec<String>,
}

/// Bytes of a file, at most: what is larger is no configuration.
const MAX_FILE: usize = 1 << 20;

/// Reads a configuration.
///
/// A chip is a die, and a die of several planes works on one of them at a time: so it never does
/// less than is promised. Latencies are the longest of the three kinds of pages. The transfer of a
/// page is its bytes at `Channel_Transfer_Rate` (millions of transfers a second, each as wide as
/// the channel), rounded up, and [`COMMANDS_NS`]; λ is 1 − `Overprovisioning_Ratio`.
///
/// # Errors
/// All that is wrong: what is missing, too, MQSim's own defaults are not supposed.
pub fn read_ssd_config(text: &str) -> Result<SsdConfig, Diagnostics> {
    let mut reader = ConfigReader { faults: Vec::new(), text };
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
}

/// The parameters of the device and of its flash.
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
        self.refuse_twice(device);
        self.refuse_twice(flash);
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

    /// MQSim takes the last of two values, which nobody means.
    fn refuse_twice(&mut self, of: Node<'_, '_>) {
        let mut seen = HashSet::new();
        for node in of.children().filter(Node::is_element) {
            if !seen.insert(node.tag_name().name().to_owned()) {
                let problem = format!("`{}` twice", node.tag_name().name());
                self.refuse(start_of(node, self.text), problem, "each parameter once");
            }
        }
    }

    fn spec(&mut self, parameters: Parameters<'_, '_>) -> Option<DeviceSpec> {
        let Parameters { device, flash } = parameters;
        let [channels, width, rate, ways] =
            ["Flash_Channel_Count", "Flash_Channel_Width", "Channel_Transfer_Rate", "Chip_No_Per_Channel"]
                .map(|name| self.number(device, name));
        let [dies, planes, blocks, pages, page_size] =
            ["Die_No_Per_Chip", "Plane_No_Per_Die", "Block_No_Per_Plane", "Page_No_Per_Block", "Page_Capacity"]
                .map(|name| self.number(flash, name));
        let read = self.longest(flash, "Page_Read_Latency");
        let program = self.longest(flash, "Page_Program_Latency");
        let erase = self.number(flash, "Block_Erase_Latency");
        let cycles = self.number(flash, "Block_PE_Cycles_Limit");
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

    /// A parameter's text.
    fn text<'a>(&mut self, of: Node<'a, '_>, name: &str) -> Option<(&'a str, Range<usize>)> {
        let Some(node) = child(of, name) else {
            let problem = format!("no `{name}`");
            self.refuse(start_of(of, self.text), problem, "every parameter that the device is made of");
            return None;
        };
        Some((node.text().unwrap_or("").trim(), start_of(node, self.text)))
    }

    /// A whole number of at least one.
    fn number(&mut self, of: Node<'_, '_>, name: &str) -> Option<u64> {
        let (text, range) = self.text(of, name)?;
        match text.parse() {
            Ok(number) if number > 0 => Some(number),
            _ => {
                self.refuse(range, format!("`{name}` is `{text}`"), "a whole number of at least 1");
                None
            }
        }
    }

    /// The longest of the latencies of the three kinds of pages. A kind that is not there is one
    /// that these cells do not have; the first is always there.
    fn longest(&mut self, flash: Node<'_, '_>, of: &str) -> Option<u64> {
        let first = self.number(flash, &format!("{of}_LSB"));
        let others = ["CSB", "MSB"].map(|kind| {
            let name = format!("{of}_{kind}");
            child(flash, &name).is_some().then(|| self.number(flash, &name))
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

/// Where an element begins: its name in angle brackets.
fn start_of(node: Node<'_, '_>, text: &str) -> Range<usize> {
    let range = node.range();
    let length = text[range.clone()].find('>').map_or(range.len(), |end| end + 1);
    range.start..range.start + length
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

/// What a device has no field for.
fn not_kept(Parameters { device, flash }: Parameters<'_, '_>) -> Vec<String> {
    let value = |of: Node<'_, '_>, name: &str| {
        child(of, name).and_then(|node| node.text()).map(|text| text.trim().to_uppercase())
    };
    let mut notes = Vec::new();
    let mut note = |is_so: bool, text: &str| {
        if is_so {
            notes.push(text.to_owned());
        }
    };
    let several = |name: &str| value(flash, name).is_some_and(|number| number != "1");
    note(several("Plane_No_Per_Die"), "The planes of a die work one at a time here; MQSim lets them work together.");
    note(several("Die_No_Per_Chip"), "Each die is a chip of its own.");
    let kinds = |of: &str| ["LSB", "CSB", "MSB"].map(|kind| value(flash, &format!("{of}_{kind}")));
    let differ = |of: &str| kinds(of).iter().flatten().any(|latency| Some(latency) != kinds(of)[0].as_ref());
    note(differ("Page_Read_Latency") || differ("Page_Program_Latency"), "All pages take as long as the slowest kind.");
    note(
        value(flash, "Page_Metadat_Capacity").is_some_and(|bytes| bytes != "0"),
        "Spare bytes of a page cross no bus, as in MQSim; on a real channel they do.",
    );
    note(
        value(flash, "CMD_Suspension_Support").is_some_and(|mode| mode != "NONE"),
        "Programs and erases are never suspended.",
    );
    note(
        value(device, "Data_Cache_Capacity").is_some_and(|bytes| bytes != "0"),
        "There is no cache of data: every request goes to the flash.",
    );
    note(
        value(device, "Ideal_Mapping_Table").is_none_or(|ideal| ideal == "FALSE"),
        "The mapping table is in memory as a whole: looking up costs nothing.",
    );
    note(
        value(device, "Use_Copyback_for_GC").is_none_or(|copyback| copyback == "FALSE"),
        "Garbage collection copies within a chip; MQSim without copyback moves each page over the bus twice.",
    );
    note(
        true,
        "When and how garbage is collected, the order of requests and wear levelling are those of rtflash's analyses.",
    );
    notes
}

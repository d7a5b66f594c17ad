//! MQSim's configurations.

use rtflash_import::mqsim::{COMMANDS_NS, read_ssd_config};
use rtflash_model::Span;

/// A configuration in MQSim's words, with values of our own.
const CONFIG: &str = include_str!("ssdconfig.xml");

#[test]
fn a_device_is_the_worst_of_what_is_configured() {
    let config = read_ssd_config(CONFIG).unwrap();
    let device = config.device;
    assert_eq!((device.chips(), device.chips_per_channel(), device.channels()), (3 * 4 * 2, 4 * 2, 3));
    assert_eq!((device.blocks_per_chip(), device.pages_per_block(), device.page_size()), (2 * 2_048, 256, 8_192));
    assert_eq!((device.page_read(), device.page_program()), (Span::from_us(91), Span::from_us(950)));
    assert_eq!(device.block_erase(), Span::from_us(3_800));
    // 8,192,000 / 333 = 24,600.6.
    assert_eq!(device.page_transfer().as_ns(), 24_601 + COMMANDS_NS);
    assert_eq!(device.logical_ratio().to_string(), "0.873");
    assert_eq!(device.erase_cycles(), Some(10_000));
    assert_eq!(device.page_read_includes_transfer(), Some(false));
    let notes = config.not_kept.join("\n");
    for word in ["planes", "die is a chip", "slowest kind", "mapping table", "copyback"] {
        assert!(notes.contains(word), "{word}: {notes}");
    }
    assert!(!notes.contains("cache of data") && !notes.contains("suspended"), "{notes}");
    // A wider channel carries as much in less time.
    let wide = CONFIG.replace("Width>1<", "Width>2<").replace("Rate>333<", "Rate>400<");
    assert_eq!(read_ssd_config(&wide).unwrap().device.page_transfer().as_ns(), 4_096 * 1_000 / 400 + COMMANDS_NS);
}

/// Removes, doubles or changes a parameter, and expects a fault that names it, at its place.
#[test]
fn what_is_wrong_is_named_where_it_is() {
    let cases: [(&str, &str, &str); 9] = [
        ("<Chip_No_Per_Channel>4</Chip_No_Per_Channel>", "", "no `Chip_No_Per_Channel`"),
        ("<Chip_No_Per_Channel>4<", "<Chip_No_Per_Channel>0<", "`Chip_No_Per_Channel` is `0`"),
        ("<Page_Capacity>8192<", "<Page_Capacity>8 KiB<", "`Page_Capacity` is `8 KiB`"),
        ("<Overprovisioning_Ratio>0.127<", "<Overprovisioning_Ratio>1.2<", "`Overprovisioning_Ratio` is `1.2`"),
        ("<Overprovisioning_Ratio>0.127<", "<Overprovisioning_Ratio>-0.1<", "is `-0.1`"),
        ("<Flash_Channel_Count>3<", "<Flash_Channel_Count>4000000000<", "too many chips"),
        ("<Page_No_Per_Block>256", "<Page_No_Per_Block>1</Page_No_Per_Block><Page_No_Per_Block>256", "twice"),
        ("</Device_Parameter_Set>", "", "not XML"),
        ("Flash_Parameter_Set>", "Flash_Parameters>", "no `Flash_Parameter_Set`"),
    ];
    for (from, to, problem) in cases {
        let text = CONFIG.replace(from, to);
        assert_ne!(text, CONFIG);
        let faults = read_ssd_config(&text).unwrap_err();
        let fault = &faults.first()[0];
        assert!(faults.to_string().contains(problem), "{problem}: {faults}");
        assert!(text.get(fault.range.clone()).is_some());
    }
    for text in ["", "{}", "<a/>", "<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>"] {
        assert!(read_ssd_config(text).is_err());
    }
}

#[test]
fn depth_does_no_harm() {
    let text = "<a>".repeat(200_000);
    assert!(read_ssd_config(&text).is_err());
}

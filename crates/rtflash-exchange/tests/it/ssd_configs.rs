//! MQSim's configurations.

use rtflash_exchange::import::mqsim::{COMMANDS_NS, read_ssd_config};
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
    // MQSim reads over blank lines and comments in front of the declaration, and cuts decimals of a
    // rate.
    for before in ["\u{feff}\n \r\n", "\n<!-- one -->\n<!-- <?xml two -->  "] {
        assert_eq!(read_ssd_config(&format!("{before}{CONFIG}")).unwrap().device, device);
    }
    assert!(read_ssd_config(&format!("<!-- open {CONFIG}")).is_err());
    assert_eq!(read_ssd_config(&format!("{}{CONFIG}", "<!---->".repeat(100_000))).unwrap().device, device);
    for rate in ["333.0", "333.000000", "333.9"] {
        let decimal = CONFIG.replace("Rate>333<", &format!("Rate>{rate}<"));
        assert_eq!(read_ssd_config(&decimal).unwrap().device, device, "{rate}");
    }
    let decimals = CONFIG.replace("Capacity>8192<", "Capacity>8192.0<").replace("CSB>91000<", "CSB>90999.1<");
    assert_eq!(read_ssd_config(&decimals).unwrap().device, device);
    // A wider channel carries as much in less time.
    let wide = CONFIG.replace("Width>1<", "Width>2<").replace("Rate>333<", "Rate>400<");
    assert_eq!(read_ssd_config(&wide).unwrap().device.page_transfer().as_ns(), 4_096 * 1_000 / 400 + COMMANDS_NS);
}

/// Removes, doubles or changes a parameter, and expects a fault that names it, at its place.
#[test]
fn what_is_wrong_is_named_where_it_is() {
    let cases: [(&str, &str, &str); 21] = [
        ("<Chip_No_Per_Channel>4</Chip_No_Per_Channel>", "", "no `Chip_No_Per_Channel`"),
        ("<Chip_No_Per_Channel>4<", "<Chip_No_Per_Channel>0<", "`Chip_No_Per_Channel` is `0`"),
        ("<Page_Capacity>8192<", "<Page_Capacity>8 KiB<", "`Page_Capacity` is `8 KiB`"),
        ("<Overprovisioning_Ratio>0.127<", "<Overprovisioning_Ratio>1.2<", "`Overprovisioning_Ratio` is `1.2`"),
        ("<Overprovisioning_Ratio>0.127<", "<Overprovisioning_Ratio>-0.1<", "is `-0.1`"),
        ("<Flash_Channel_Count>3<", "<Flash_Channel_Count>4000000000<", "too many chips"),
        ("<Page_No_Per_Block>256", "<Page_No_Per_Block>1</Page_No_Per_Block><Page_No_Per_Block>256", "twice"),
        ("</Device_Parameter_Set>", "", "not XML"),
        ("Flash_Parameter_Set>", "Flash_Parameters>", "no `Flash_Parameter_Set`"),
        ("<Channel_Transfer_Rate>333<", "<Channel_Transfer_Rate>0.9<", "`Channel_Transfer_Rate` is `0.9`"),
        ("<Plane_No_Per_Die>2<", "<Plane_No_Per_Die>2.5<", "`Plane_No_Per_Die` is `2.5`"),
        ("<Block_Erase_Latency>3800000<", "<Block_Erase_Latency>3.8e6<", "`Block_Erase_Latency` is `3.8e6`"),
        // A fourth kind of page, blocks that are bad, a part of other cells: MQSim has none of
        // them.
        (
            "</Flash_Parameter_Set>",
            "<Page_Read_Latency_WSB>140000</Page_Read_Latency_WSB></Flash_Parameter_Set>",
            "unknown parameter `Page_Read_Latency_WSB`",
        ),
        (
            "<Page_Capacity>",
            "<Init_Bad_Block_Ratio>5</Init_Bad_Block_Ratio><Page_Capacity>",
            "unknown parameter `Init_Bad_Block_Ratio`",
        ),
        (
            "<Page_Capacity>",
            "<SLC><Page_Program_Latency>2</Page_Program_Latency></SLC><Page_Capacity>",
            "unknown parameter `SLC`",
        ),
        (
            "<Flash_Channel_Count>",
            "<SLC_Cache_Enabled>true</SLC_Cache_Enabled><Flash_Channel_Count>",
            "unknown parameter `SLC_Cache_Enabled`",
        ),
        (
            "<Host_Parameter_Set>",
            "<Cache_Parameter_Set/><Host_Parameter_Set>",
            "unknown parameter `Cache_Parameter_Set`",
        ),
        ("<Page_Capacity>", "<Flash_Technology>qlc</Flash_Technology><Page_Capacity>", "`Flash_Technology` is `qlc`"),
        (
            "<Page_Read_Latency_CSB>91000</Page_Read_Latency_CSB>",
            "<Flash_Technology>TLC</Flash_Technology>",
            "no `Page_Read_Latency_CSB`",
        ),
        ("<Flash_Channel_Count>", "<Memory_Type>PCM</Memory_Type><Flash_Channel_Count>", "`Memory_Type` is `PCM`"),
        (
            "<Flash_Channel_Count>",
            "<Flash_Comm_Protocol>NVDDR4</Flash_Comm_Protocol><Flash_Channel_Count>",
            "`Flash_Comm_Protocol` is `NVDDR4`",
        ),
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

/// All parameters of the configuration that MQSim itself writes.
#[test]
fn what_mqsim_writes_is_read() {
    let more = "<Flash_Technology>tlc</Flash_Technology><CMD_Suspension_Support>ERASE</CMD_Suspension_Support>\
        <Suspend_Erase_Time>700000</Suspend_Erase_Time><Suspend_Program_Time>100000</Suspend_Program_Time>\
        <Page_Metadat_Capacity>448</Page_Metadat_Capacity><Page_Capacity>";
    let device: String = [
        ("Seed", "321"),
        ("Enabled_Preconditioning", "false"),
        ("Memory_Type", "FLASH"),
        ("HostInterface_Type", "NVME"),
        ("IO_Queue_Depth", "65535"),
        ("Queue_Fetch_Size", "512"),
        ("Caching_Mechanism", "ADVANCED"),
        ("Data_Cache_Sharing_Mode", "SHARED"),
        ("Data_Cache_DRAM_Row_Size", "8192"),
        ("Data_Cache_DRAM_Data_Rate", "100"),
        ("Data_Cache_DRAM_Data_Busrt_Size", "1"),
        ("Data_Cache_DRAM_tRCD", "13"),
        ("Data_Cache_DRAM_tCL", "13"),
        ("Data_Cache_DRAM_tRP", "13"),
        ("Address_Mapping", "PAGE_LEVEL"),
        ("Ideal_Mapping_Table", "false"),
        ("CMT_Capacity", "2097152"),
        ("CMT_Sharing_Mode", "SHARED"),
        ("Plane_Allocation_Scheme", "CWDP"),
        ("Transaction_Scheduling_Policy", "PRIORITY_OUT_OF_ORDER"),
        ("GC_Exec_Threshold", "0.05000"),
        ("GC_Block_Selection_Policy", "RGA"),
        ("Use_Copyback_for_GC", "false"),
        ("Preemptible_GC_Enabled", "false"),
        ("GC_Hard_Threshold", "0.005000"),
        ("Dynamic_Wearleveling_Enabled", "true"),
        ("Static_Wearleveling_Enabled", "true"),
        ("Static_Wearleveling_Threshold", "100"),
        ("Preferred_suspend_erase_time_for_read", "700000"),
        ("Preferred_suspend_erase_time_for_write", "700000"),
        ("Preferred_suspend_write_time_for_read", "100000"),
        ("Flash_Comm_Protocol", "NVDDR2"),
    ]
    .map(|(name, value)| format!("<{name}>{value}</{name}>"))
    .concat();
    let text =
        CONFIG.replace("<Page_Capacity>", more).replace("<Flash_Channel_Count>", &(device + "<Flash_Channel_Count>"));
    let config = read_ssd_config(&text).unwrap();
    assert_eq!(config.device, read_ssd_config(CONFIG).unwrap().device);
    assert!(config.not_kept.iter().any(|note| note.contains("suspended")));
}

//! The files that MQSim reads.

use std::fmt::Write as _;

use rtflash_model::{ChipRectangle, Device};

use super::{Flash, HARD_THRESHOLD, MqsimGc, shape};

const PLACES: usize = 12;

/// Erase cycles where a device states none, and at most: MQSim has a counter for each number of
/// cycles on each plane.
const CYCLES: u32 = 10_000;
const MAX_CYCLES: u32 = 100_000;

fn field(text: &mut String, indent: usize, name: &str, value: impl std::fmt::Display) {
    let _ = writeln!(text, "{:\t<indent$}<{name}>{value}</{name}>", "");
}

/// The configuration of the device: nothing is cached, suspended, copied back or conditioned, the
/// mapping table is in memory, there is one die of one plane in a chip, and the host's link is so
/// fast that it hides nothing.
pub(super) fn ssd(device: &Device, flash: &Flash, gc: MqsimGc) -> String {
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"us-ascii\"?>\n<Execution_Parameter_Set>\n");
    text += "\t<Host_Parameter_Set>\n";
    for (name, value) in [
        ("PCIe_Lane_Bandwidth", "100.0"),
        ("PCIe_Lane_Count", "16"),
        ("SATA_Processing_Delay", "0"),
        ("Enable_ResponseTime_Logging", "false"),
        ("ResponseTime_Logging_Period_Length", "1000000"),
    ] {
        field(&mut text, 2, name, value);
    }
    text += "\t</Host_Parameter_Set>\n\t<Device_Parameter_Set>\n";
    for (name, value) in FIXED {
        field(&mut text, 2, name, value);
    }
    let blocks = f64::from(device.blocks_per_chip());
    let preemptible = gc == MqsimGc::Preemptible;
    let per_channel = device.chips_per_channel().min(device.chips());
    field(&mut text, 2, "Overprovisioning_Ratio", format!("{:.PLACES$}", 1.0 - device.logical_ratio().to_f64()));
    field(&mut text, 2, "GC_Exec_Threshold", format!("{:.PLACES$}", (flash.threshold as f64 + 0.5) / blocks));
    field(&mut text, 2, "GC_Hard_Threshold", format!("{:.PLACES$}", (HARD_THRESHOLD as f64 + 0.5) / blocks));
    field(&mut text, 2, "Preemptible_GC_Enabled", preemptible);
    field(&mut text, 2, "Flash_Channel_Count", device.channels());
    field(&mut text, 2, "Channel_Transfer_Rate", flash.clock.rate);
    field(&mut text, 2, "Chip_No_Per_Channel", per_channel);
    text += "\t\t<Flash_Parameter_Set>\n";
    field(&mut text, 3, "Flash_Technology", "SLC");
    field(&mut text, 3, "CMD_Suspension_Support", "NONE");
    for kind in ["LSB", "CSB", "MSB"] {
        field(&mut text, 3, &format!("Page_Read_Latency_{kind}"), flash.read_ns);
    }
    for kind in ["LSB", "CSB", "MSB"] {
        field(&mut text, 3, &format!("Page_Program_Latency_{kind}"), flash.program_ns);
    }
    field(&mut text, 3, "Block_Erase_Latency", device.block_erase().as_ns());
    field(&mut text, 3, "Block_PE_Cycles_Limit", device.erase_cycles().unwrap_or(CYCLES).min(MAX_CYCLES));
    field(&mut text, 3, "Suspend_Erase_Time", 0);
    field(&mut text, 3, "Suspend_Program_Time", 0);
    field(&mut text, 3, "Die_No_Per_Chip", 1);
    field(&mut text, 3, "Plane_No_Per_Die", 1);
    field(&mut text, 3, "Block_No_Per_Plane", device.blocks_per_chip());
    field(&mut text, 3, "Page_No_Per_Block", device.pages_per_block());
    field(&mut text, 3, "Page_Capacity", flash.clock.sectors * 512);
    field(&mut text, 3, "Page_Metadat_Capacity", 0);
    text + "\t\t</Flash_Parameter_Set>\n\t</Device_Parameter_Set>\n</Execution_Parameter_Set>\n"
}

/// The parameters that do not depend on the device.
const FIXED: [(&str, &str); 31] = [
    ("Seed", "321"),
    ("Enabled_Preconditioning", "false"),
    ("Memory_Type", "FLASH"),
    ("HostInterface_Type", "NVME"),
    ("IO_Queue_Depth", "65535"),
    ("Queue_Fetch_Size", "65535"),
    ("Caching_Mechanism", "SIMPLE"),
    ("Data_Cache_Sharing_Mode", "SHARED"),
    ("Data_Cache_Capacity", "268435456"),
    ("Data_Cache_DRAM_Row_Size", "8192"),
    ("Data_Cache_DRAM_Data_Rate", "800"),
    ("Data_Cache_DRAM_Data_Busrt_Size", "4"),
    ("Data_Cache_DRAM_tRCD", "13"),
    ("Data_Cache_DRAM_tCL", "13"),
    ("Data_Cache_DRAM_tRP", "13"),
    ("Address_Mapping", "PAGE_LEVEL"),
    ("Ideal_Mapping_Table", "true"),
    ("CMT_Capacity", "268435456"),
    ("CMT_Sharing_Mode", "SHARED"),
    ("Plane_Allocation_Scheme", "CWDP"),
    ("Transaction_Scheduling_Policy", "OUT_OF_ORDER"),
    ("GC_Block_Selection_Policy", "RGA"),
    ("Use_Copyback_for_GC", "false"),
    ("Dynamic_Wearleveling_Enabled", "false"),
    ("Static_Wearleveling_Enabled", "false"),
    ("Static_Wearleveling_Threshold", "100"),
    ("Preferred_suspend_erase_time_for_read", "0"),
    ("Preferred_suspend_erase_time_for_write", "0"),
    ("Preferred_suspend_write_time_for_read", "0"),
    ("Flash_Channel_Width", "1"),
    ("Flash_Comm_Protocol", "NVDDR2"),
];

/// The workload: all flows at once, of one priority.
pub(super) fn workload(flows: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"us-ascii\"?>\n<MQSim_IO_Scenarios>\n\t<IO_Scenario>\n{flows}\t</IO_Scenario>\n\
         </MQSim_IO_Scenarios>\n"
    )
}

/// One flow: a trace on a rectangle of chips.
pub(super) fn flow(text: &mut String, of: &ChipRectangle, trace: &str) {
    let [channels, ways] = shape(of);
    *text += "\t\t<IO_Flow_Parameter_Set_Trace_Based>\n";
    for (name, value) in [
        ("Priority_Class", "HIGH"),
        ("Device_Level_Data_Caching_Mode", "TURNED_OFF"),
        ("Channel_IDs", &channels),
        ("Chip_IDs", &ways),
        ("Die_IDs", "0"),
        ("Plane_IDs", "0"),
        ("Initial_Occupancy_Percentage", "0"),
        ("File_Path", trace),
        ("Percentage_To_Be_Executed", "100"),
        ("Relay_Count", "1"),
        ("Time_Unit", "NANOSECOND"),
    ] {
        field(text, 3, name, value);
    }
    *text += "\t\t</IO_Flow_Parameter_Set_Trace_Based>\n";
}

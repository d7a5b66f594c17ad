//! The parameters of MQSim's configurations, and those that a device has no field for.

use roxmltree::Node;

use super::{Parameters, child};

/// Parameters of the flash that MQSim reads. Another one can change what the flash does.
pub(super) const FLASH_PARAMETERS: [&str; 18] = [
    "Flash_Technology",
    "CMD_Suspension_Support",
    "Page_Read_Latency_LSB",
    "Page_Read_Latency_CSB",
    "Page_Read_Latency_MSB",
    "Page_Program_Latency_LSB",
    "Page_Program_Latency_CSB",
    "Page_Program_Latency_MSB",
    "Block_Erase_Latency",
    "Block_PE_Cycles_Limit",
    "Suspend_Erase_Time",
    "Suspend_Program_Time",
    "Die_No_Per_Chip",
    "Plane_No_Per_Die",
    "Block_No_Per_Plane",
    "Page_No_Per_Block",
    "Page_Capacity",
    "Page_Metadat_Capacity",
];

/// Parameters of the device that MQSim reads, and its `Preferred_suspend_erase_time_for_read`,
/// which it writes and reads in different spellings.
pub(super) const DEVICE_PARAMETERS: [&str; 40] = [
    "Seed",
    "Enabled_Preconditioning",
    "Memory_Type",
    "HostInterface_Type",
    "IO_Queue_Depth",
    "Queue_Fetch_Size",
    "Caching_Mechanism",
    "Data_Cache_Sharing_Mode",
    "Data_Cache_Capacity",
    "Data_Cache_DRAM_Row_Size",
    "Data_Cache_DRAM_Data_Rate",
    "Data_Cache_DRAM_Data_Busrt_Size",
    "Data_Cache_DRAM_tRCD",
    "Data_Cache_DRAM_tCL",
    "Data_Cache_DRAM_tRP",
    "Address_Mapping",
    "Ideal_Mapping_Table",
    "CMT_Capacity",
    "CMT_Sharing_Mode",
    "Plane_Allocation_Scheme",
    "Transaction_Scheduling_Policy",
    "Overprovisioning_Ratio",
    "GC_Exec_Threshold",
    "GC_Block_Selection_Policy",
    "Use_Copyback_for_GC",
    "Preemptible_GC_Enabled",
    "GC_Hard_Threshold",
    "Dynamic_Wearleveling_Enabled",
    "Static_Wearleveling_Enabled",
    "Static_Wearleveling_Threshold",
    "Preferred_suspend_erase_time_for_read",
    "Prefered_suspend_erase_time_for_read",
    "Preferred_suspend_erase_time_for_write",
    "Preferred_suspend_write_time_for_read",
    "Flash_Channel_Count",
    "Flash_Channel_Width",
    "Channel_Transfer_Rate",
    "Chip_No_Per_Channel",
    "Flash_Comm_Protocol",
    "Flash_Parameter_Set",
];

/// Sentences about the parameters that a device has no field for.
pub(super) fn not_kept(Parameters { device, flash }: Parameters<'_, '_>) -> Vec<String> {
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

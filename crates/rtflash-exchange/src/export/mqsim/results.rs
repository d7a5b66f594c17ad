//! The results of MQSim: `…_scenario_1.xml`.

use roxmltree::{Document, Node};

use crate::export::replayed::{ReplayedStream, StreamMaximum};

/// Reads the results of MQSim: its flows, in the order of the workload.
///
/// Times are whole microseconds that MQSim has cut: m stands for anything from m to m + 1. The
/// error is a clause.
pub fn read_results(text: &str) -> Result<Vec<ReplayedStream>, String> {
    let document = Document::parse(text).map_err(|error| format!("not XML: {error}"))?;
    let root = document.root_element();
    if !root.has_tag_name("MQSim_Results") {
        return Err(format!("no results of MQSim: the root is `{}`, not `MQSim_Results`", root.tag_name().name()));
    }
    let flows = root.descendants().filter(|node| node.tag_name().name().ends_with(".IO_Flow"));
    let flows: Vec<ReplayedStream> = flows.map(flow).collect::<Result<_, _>>()?;
    if flows.is_empty() { Err("no flow in it".into()) } else { Ok(flows) }
}

fn flow(node: Node<'_, '_>) -> Result<ReplayedStream, String> {
    let text = |name: &str| {
        let child = node.children().find(|child| child.has_tag_name(name));
        child.map(|child| child.text().unwrap_or("").trim()).ok_or_else(|| format!("a flow without `{name}`"))
    };
    let number = |name: &str| {
        let text = text(name)?;
        // MQSim prints bytes as a decimal with zeros behind the point.
        let whole = text.split_once('.').map_or(text, |(whole, _)| whole);
        whole.parse::<u64>().map_err(|_| format!("`{name}` is `{text}`, no number"))
    };
    let (reads, writes) = (number("Read_Request_Count")?, number("Write_Request_Count")?);
    let served_bytes = number("Bytes_Transferred")?;
    let longest = number("Max_End_to_End_Request_Delay")?;
    let ns = |us: u64| us.checked_mul(1_000).ok_or("a delay of more than 2^64 ns");
    let longest = StreamMaximum { at_least: ns(longest)?, below: ns(longest.saturating_add(1))? };
    Ok(ReplayedStream {
        percentiles: [None; 3],
        name: text("Name")?.to_owned(),
        requests: reads.saturating_add(writes),
        served_bytes,
        writes: writes > 0,
        longest: (served_bytes > 0).then_some(longest),
        lasted_ms: None,
    })
}

use proptest::prelude::*;

use super::GOOD;
use super::drawn::set;
use crate::file::{read_task_set, write_task_set};
use crate::{Device, TaskSet};

proptest! {
    #[test]
    fn what_is_written_is_read_back(set in set()) {
        let text = write_task_set(&set, None);
        prop_assert!(!text.contains('\n'));
        prop_assert_eq!(read_task_set(&text).unwrap().set, set);
    }
}

#[test]
fn a_file_is_written_on_one_line() {
    let file = read_task_set(&GOOD.replace("\"seed\": 7,", "\"seed\":\r\n7,")).unwrap();
    let text = write_task_set(&file.set, file.meta.as_ref());
    assert_eq!(
        text,
        r#"{"device":{"chips":4,"chips_per_channel":2,"blocks_per_chip":1024,"pages_per_block":256,"page_size":8192,"logical_ratio":0.5,"page_read":"50us","page_program":"500us","block_erase":"5ms","page_transfer":"40us"},"tasks":[{"name":"camera","read":{"pages":40,"period":"36ms"},"write":{"pages":24,"period":"30ms"}},{"name":"map","read":{"pages":80,"period":"36ms"}},{"name":"film","write":{"pages":24,"period":"2s","access":"sequential"},"data_pages":4096}],"jobs":[{"name":"log","write_pages":128,"arrivals":{"every":"12.5ms"}},{"name":"scan","read_pages":5,"arrivals":{"uniform":["100us","1ms"]}},{"name":"boot","read_pages":5,"write_pages":1,"arrivals":{"at":["0ns","1ms","1ms"]}}],"meta":{ "seed":  7, "twice": 1, "twice": 2 }}"#
    );
    let set = TaskSet::new(Device::profile("dgist-2021").unwrap(), vec![], vec![]).unwrap();
    assert_eq!(write_task_set(&set, None), r#"{"device":"dgist-2021","tasks":[]}"#);
}

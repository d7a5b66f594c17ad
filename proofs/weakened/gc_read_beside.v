(* A GC read of k pages that takes c_r', as if nothing were read beside. *)
(* weaken Device.v s|s_en s - s_st s <= t_r d + t_d d \* (k + others_on h)\.|s_en s - s_st s <= t_r d + t_d d * (1 + others_on h).| *)
(* fails Device.v gc_read_by_others *)
(* beside the theory as it is *)
From Coq Require Import ZArith List.
From Rtflash Require Import Sums Trace Closing Device Theorem3 DeviceExamples.
Import ListNotations.
Open Scope Z_scope.

(* The superblock of the third example has its channel for itself. *)
Example broken :
  chips_of_others beside_device beside_member 0 = 0 /\
  exists s, In s (x_steps beside_trace) /\ s_act s = AGcRead 2 /\
    t_r (y_d beside_device) + t_d (y_d beside_device) * 1 < s_en s - s_st s.
Proof.
  split; [reflexivity|]. exists (Step 1 0 3 (AGcRead 2) false).
  split; [simpl; auto|]. split; reflexivity.
Qed.

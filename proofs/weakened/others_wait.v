(* (29) without the read's own transfer's place: t_d o for t_d (1 + o). *)
(* weaken Device.v s|s_en s - s_st s <= t_r d + t_d d \* (1 + others_on h)\.|s_en s - s_st s <= t_r d + t_d d * others_on h.| *)
(* fails Device.v read_by_others *)
(* beside the theory as it is *)
From Coq Require Import ZArith List Bool.
From Rtflash Require Import Sums Trace Closing Device Theorem3 DeviceExamples.
Import ListNotations.
Open Scope Z_scope.

(* The superblock of the second example has one chip of another cluster beside it. *)
Example broken :
  chips_of_others mixed_device mixed_member_1 0 = 1 /\
  exists s, In s (x_steps mixed_trace_1) /\ s_act s = ARead /\
    t_r (y_d mixed_device) + t_d (y_d mixed_device) * 1 < s_en s - s_st s.
Proof.
  split; [reflexivity|].
  destruct (find (fun s => is_read (s_act s) && (6 <? s_en s - s_st s)) (x_steps mixed_trace_1))
    as [s|] eqn:E; [|exfalso; revert E; vm_compute; discriminate].
  pose proof (find_some _ _ E) as [Hin H]. exists s. split; [assumption|].
  apply andb_true_iff in H. destruct H as [H1 H2]. apply Z.ltb_lt in H2.
  split; [destruct (s_act s); try discriminate; reflexivity|exact H2].
Qed.

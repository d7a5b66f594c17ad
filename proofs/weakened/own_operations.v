(* One of the chip's own operations does not wait: n_i - 1 in the minimum of (35). *)
(* weaken Theorem3.v s/| Some N_j => Z.min (n_i d rs L) N_j/| Some N_j => Z.min (n_i d rs L - 1) N_j/ *)
(* fails Theorem3.v waits_bounded *)
(* beside the theory as it is: the weakened test is written out here *)
From Coq Require Import ZArith List Lia Bool.
From Rtflash Require Import Sums Demand Victims Sporadic Trace Check Closing Edf Neighbours Device
  Frontier Theorem3 DeviceCheck DeviceExamples.
Import ListNotations.
Open Scope Z_scope.

Definition weak_trace_0 : trace := Trace
  [Job 10 10 24 (Req 0) 0 2]
  [Step 0 10 19 ARead false; Step 0 19 27 ARead true]
  4 30.
Definition weak_trace_1 : trace := Trace
  [Job 10 10 110 (Req 0) 0 2]
  [Step 0 10 15 ARead false; Step 0 15 23 ARead true]
  4 30.
Definition weak_channel_0 : channel := Channel 2
  [Transfer 0 10 11 11 15; Transfer 1 10 11 15 19; Transfer 0 15 16 19 23; Transfer 1 19 20 23 27].
Definition weak_member_0 : member := Member false [(0, 1)%nat] 2 1
  [Demanded false 2 60 14 0]
  (Stated 1000 3 3 1 0 false []) false 10 4 10 weak_trace_0.
Definition weak_member_1 : member := Member false [(0, 0)%nat] 2 1
  [Demanded false 2 100 100 0]
  (Stated 1000 3 3 1 0 false []) false 10 4 10 weak_trace_1.
Definition weak_device : system := System (Device 1 5 5 4 1)
  [weak_channel_0]
  [weak_member_0; weak_member_1] 30.

Example weak_obeys : device_obeys weak_device /\
  forall m, In m (y_members weak_device) -> stated_well weak_device m.
Proof. apply (device_obeysb_spec _ (fun _ _ => []) (fun _ => 0)). vm_compute. reflexivity. Qed.
(* The neighbour passes (T), and the chip passes the weakened test at every length up to the last
   one of (T), beyond which that holds. *)
Example weak_neighbour : passes_T weak_device weak_member_1.
Proof. by_decision weak_device weak_member_1 weak_obeys. Qed.
Definition weak_waited (L : Z) : Z :=
  Z.min (n_i (dev weak_device weak_member_0) (mb_rs weak_member_0) L - 1)
    (N_stripe (mb_rs weak_member_1) L).
Definition weak_fits (L : Z) : bool :=
  let m := weak_member_0 in
  let g := p_g (proc weak_device m) in
  let d := dev weak_device m in
  1000 * (suml (fun w => jobs_of d w L * (w_pages w * base d w)) (mb_rs m)
          + t_d d * weak_waited L + due_passes (map (stripe_request d) (mb_rs m)) g L * g_C g
          + blocking (map (stripe_request d) (mb_rs m)) g L) <=? share g * L.
Example weak_accepted :
  load_fits (p_rs (proc weak_device weak_member_0)) (p_g (proc weak_device weak_member_0)) = true /\
  forallb (fun L => negb (existsb (fun x => x <=? L)
      (deadlines (p_rs (proc weak_device weak_member_0)) (p_g (proc weak_device weak_member_0))))
    || weak_fits L)
    (instants (last_length (p_rs (proc weak_device weak_member_0))
                           (p_g (proc weak_device weak_member_0)) + 1)) = true.
Proof. split; vm_compute; reflexivity. Qed.
(* Its job 0 misses its deadline, 24. *)
Example broken : missed weak_trace_0 0 /\ j_due (jb weak_trace_0 0) <= x_end weak_trace_0.
Proof. vm_compute. repeat split; discriminate. Qed.

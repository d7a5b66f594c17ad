(* (T') with the base cost of a blocking operation in B, without its wait. *)
(* weaken Theorem3.v s|~ device_test d rs (p_g P) (ch_chips H) place N\.|~ (forall L, (exists y, In y (deadlines (map (stripe_request d) rs) (p_g P)) /\\ y <= L) -> 1000 * (dbf' d rs (p_g P) (ch_chips H) place N L + blocking (map (stripe_request (Device (t_r d) (t_w d) (t_e d) (t_d d) 1)) rs) (p_g P) L) <= share (p_g P) * L).| *)
(* fails Theorem3.v late_job_contradicts_T' *)
(* beside the theory as it is: the weakened test is written out here *)
From Coq Require Import ZArith List Lia Bool.
From Rtflash Require Import Sums Demand Victims Sporadic Trace Check Closing Edf Neighbours Device
  Frontier Theorem3 DeviceCheck DeviceExamples.
Import ListNotations.
Open Scope Z_scope.

Definition weak_trace_0 : trace := Trace
  [Job 10 10 110 (Req 1) 0 1; Job 11 11 25 (Req 0) 0 1]
  [Step 0 10 19 ARead true; Step 1 19 27 ARead true]
  4 30.
Definition weak_trace_1 : trace := Trace
  [Job 10 10 110 (Req 0) 0 2]
  [Step 0 10 15 ARead false; Step 0 15 23 ARead true]
  4 30.
Definition weak_channel_0 : channel := Channel 2
  [Transfer 0 10 11 11 15; Transfer 1 10 11 15 19; Transfer 0 15 16 19 23; Transfer 1 19 20 23 27].
Definition weak_member_0 : member := Member false [(0, 1)%nat] 2 1
  [Demanded false 1 60 14 0; Demanded false 1 100 100 0]
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
Definition weak_fits (L : Z) : bool :=
  let m := weak_member_0 in
  let g := p_g (proc weak_device m) in
  let d := dev weak_device m in
  let alone := Device (t_r d) (t_w d) (t_e d) (t_d d) 1 in
  1000 * (dbf' d (mb_rs m) g 2 1 (N_j weak_device 0) L
          + blocking (map (stripe_request alone) (mb_rs m)) g L) <=? share g * L.
Example weak_accepted :
  load_fits (p_rs (proc weak_device weak_member_0)) (p_g (proc weak_device weak_member_0)) = true /\
  forallb (fun L => negb (existsb (fun x => x <=? L)
      (deadlines (p_rs (proc weak_device weak_member_0)) (p_g (proc weak_device weak_member_0))))
    || weak_fits L)
    (instants (last_length (p_rs (proc weak_device weak_member_0))
                           (p_g (proc weak_device weak_member_0)) + 1)) = true.
Proof. split; vm_compute; reflexivity. Qed.
(* Its job 1 misses its deadline, 25. *)
Example broken : missed weak_trace_0 1 /\ j_due (jb weak_trace_0 1) <= x_end weak_trace_0.
Proof. vm_compute. repeat split; discriminate. Qed.

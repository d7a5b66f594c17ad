(* (34) with ⌈L/T⌉ alone: a job that starts late, and its successor, are two in a short window. *)
(* weaken Theorem3.v s|suml (fun w => cdiv (L + w_D w) (w_T w) \* w_pages w) rs\.|suml (fun w => cdiv L (w_T w) * w_pages w) rs.| *)
(* fails Theorem3.v stripe_neighbour *)
(* beside the theory as it is: the weakened test is written out here *)
From Coq Require Import ZArith List Lia Bool.
From Rtflash Require Import Sums Demand Victims Sporadic Trace Check Closing Edf Neighbours Device
  Frontier Theorem3 DeviceCheck DeviceExamples.
Import ListNotations.
Open Scope Z_scope.

(* As in the note of Section 6: a read of the neighbour waits for a program, its next one does
   not. *)
Definition weak_trace_0 : trace := Trace
  [Job 56 56 107 (Req 0) 0 6]
  [Step 0 56 62 ARead false; Step 0 62 72 ARead false; Step 0 72 82 ARead false;
   Step 0 82 88 ARead false; Step 0 88 99 ARead false; Step 0 99 109 ARead true]
  4 108.
Definition weak_trace_1 : trace := Trace
  [Job 0 0 1000 (Req 1) 1 1; Job 1 1 88 (Req 0) 0 2; Job 88 88 175 (Req 0) 0 2]
  [Step 0 0 57 (AProg 1) true; Step 1 57 67 ARead false; Step 1 67 77 ARead true;
   Step 2 88 94 ARead false; Step 2 94 104 ARead true]
  4 108.
Definition weak_channel_0 : channel := Channel 2
  [Transfer 0 0 0 0 5; Transfer 1 56 57 57 62; Transfer 0 57 58 62 67; Transfer 1 62 63 67 72;
   Transfer 0 67 68 72 77; Transfer 1 72 73 77 82; Transfer 1 82 83 83 88;
   Transfer 0 88 89 89 94; Transfer 1 88 89 94 99; Transfer 0 94 95 99 104;
   Transfer 1 99 100 104 109].
Definition weak_member_0 : member := Member false [(0, 1)%nat] 2 1
  [Demanded false 6 102 51 0]
  (Stated 1000 3 3 1 0 false []) false 10 4 10 weak_trace_0.
Definition weak_member_1 : member := Member false [(0, 0)%nat] 2 1
  [Demanded false 2 87 87 0; Demanded true 1 1000 1000 0]
  (Stated 1000 3 4 1 0 false []) false 10 4 10 weak_trace_1.
Definition weak_device : system := System (Device 1 52 5 5 1)
  [weak_channel_0]
  [weak_member_0; weak_member_1] 108.

Example weak_obeys : device_obeys weak_device /\
  forall m, In m (y_members weak_device) -> stated_well weak_device m.
Proof. apply (device_obeysb_spec _ (fun _ _ => []) (fun _ => 0)). vm_compute. reflexivity. Qed.
(* The neighbour passes (T), and the chip passes the weakened test at every length up to the last
   one of (T), beyond which that holds. *)
Example weak_neighbour : passes_T weak_device weak_member_1.
Proof. by_decision weak_device weak_member_1 weak_obeys. Qed.
Definition weak_N (c : nat) (L : Z) : option Z :=
  Some (suml (fun w => cdiv L (w_T w) * w_pages w) (mb_rs weak_member_1)).
Definition weak_fits (L : Z) : bool :=
  fits'b (dev weak_device weak_member_0) (mb_rs weak_member_0)
    (p_g (proc weak_device weak_member_0)) 2 1 weak_N L.
Example weak_accepted :
  load_fits (p_rs (proc weak_device weak_member_0)) (p_g (proc weak_device weak_member_0)) = true /\
  forallb (fun L => negb (existsb (fun x => x <=? L)
      (deadlines (p_rs (proc weak_device weak_member_0)) (p_g (proc weak_device weak_member_0))))
    || weak_fits L)
    (instants (last_length (p_rs (proc weak_device weak_member_0))
                           (p_g (proc weak_device weak_member_0)) + 1)) = true.
Proof. split; vm_compute; reflexivity. Qed.
(* Its job 0 misses its deadline, 107. *)
Example broken : missed weak_trace_0 0 /\ j_due (jb weak_trace_0 0) <= x_end weak_trace_0.
Proof. vm_compute. repeat split; discriminate. Qed.

(* X1 without "no page is committed": a page is sensed while another is on its way in. *)
(* weaken Registers.v s|array_idle l t /\\ none_committed l t|array_idle l t /\\ True| *)
(* weaken CheckRegisters.v s|array_idleb l t \&\& none_committedb l t|array_idleb l t \&\& true| *)
(* fails Stretches.v read_may_begin *)
From Coq Require Import ZArith List Lia Bool.
From Rtflash Require Import Sums Demand Victims Sporadic Trace Check Closing Registers
  CheckRegisters.
Import ListNotations.
Open Scope Z_scope.

Definition weak_device : device := Device 5 5 3 2 1.
Definition weak_processor : processor := cached_stripe weak_device
  [Demanded true 1 1000 90 0; Demanded false 1 1000 50 0]
  (Stated 200 5 6 1 0 false []) 8 6 6.
Definition weak_program : rstep := RStep 0 0 2 2 7 (AProg 1) true.
Definition weak_read : rstep := RStep 1 1 6 6 8 ARead true.
Definition weak_trace : rtrace := RTrace
  [Job 0 0 90 (Req 0) 1 1; Job 1 1 51 (Req 1) 0 1]
  [weak_program; weak_read] 6 60.

Example weak_parameters : parameters_ok weak_processor /\ cached weak_device weak_processor.
Proof. stripe_parameters. Qed.
Example weak_obeys : obeys_registers weak_device weak_processor weak_trace.
Proof. apply (registersb_spec _ _ _ (fun _ => [])). vm_compute. reflexivity. Qed.
(* At 3 the array programs and senses at once. *)
Example broken : array_has weak_program 3 /\ array_has weak_read 3.
Proof. unfold array_has. vm_compute. repeat split; discriminate. Qed.

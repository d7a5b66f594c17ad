(* B of a chip that reads alone, without the last page's way out. *)
(* weaken Registers.v s|(if writes rs then 0 else b)|(if writes rs then 0 else 0)| *)
(* fails Cached.v late_is_covered *)
From Coq Require Import ZArith List Lia Bool.
From Rtflash Require Import Sums Demand Victims Sporadic Trace Check Closing Registers
  CheckRegisters.
Import ListNotations.
Open Scope Z_scope.

Definition weak_device : device := Device 6 2 6 4 1.
Definition weak_processor : processor := cached_stripe weak_device
  [Demanded false 1 443 12 0; Demanded false 1 406 19 0]
  (Stated 1 1 1 1 0 false []) 3 2 1.
Definition weak_trace : rtrace := RTrace
  [Job 0 0 19 (Req 1) 0 1;
   Job 3 3 15 (Req 0) 0 1]
  [RStep 0 0 6 6 10 ARead true;
   RStep 1 6 12 12 16 ARead true]
  1 15.
Definition weak_blocks (k : nat) : list block := [].

Example weak_parameters : parameters_ok weak_processor /\ cached weak_device weak_processor.
Proof. stripe_parameters. Qed.
Example weak_accepted : T2_alone weak_device (p_rs weak_processor) (p_g weak_processor).
Proof.
  destruct weak_parameters as [ok _]. apply accepted_alone_spec;
    [unfold device_ok; simpl; lia|apply (ok_requests _ ok)|apply (ok_collection _ ok)|].
  vm_compute. reflexivity.
Qed.
Example weak_obeys : obeys_registers weak_device weak_processor weak_trace.
Proof. apply (registersb_spec _ _ _ weak_blocks). vm_compute. reflexivity. Qed.
(* Job 1 misses its deadline, 15, by 1. *)
Example broken : over weak_trace 1 15 = false /\ j_due (vjb weak_trace 1) = 15 /\
  15 <= v_end weak_trace.
Proof. vm_compute. repeat split; discriminate. Qed.

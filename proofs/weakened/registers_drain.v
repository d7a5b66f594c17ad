(* K without the drain of a page that was sensed before x. *)
(* weaken Registers.v s|Z.min J (pages_read rs L + 1)|Z.min J (pages_read rs L)| *)
(* fails Cached.v late_is_covered *)
From Coq Require Import ZArith List Lia Bool.
From Rtflash Require Import Sums Demand Victims Sporadic Trace Check Closing Registers
  CheckRegisters.
Import ListNotations.
Open Scope Z_scope.

Definition weak_device : device := Device 6 1 1 2 2.
Definition weak_processor : processor := cached_stripe weak_device
  [Demanded true 4 76 46 0; Demanded false 1 423 18 0]
  (Stated 8 4 7 0 0 false []) 9 4 2.
Definition weak_trace : rtrace := RTrace
  [Job 2 2 48 (Req 0) 4 4;
   Job 1 1 19 (Req 1) 0 1;
   Job 2 2 10 (Gc 1) 0 0]
  [RStep 1 1 7 7 11 ARead true]
  7 10.
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
(* Job 2 misses its deadline, 10, by 2. *)
Example broken : over weak_trace 2 10 = false /\ j_due (vjb weak_trace 2) = 10 /\
  10 <= v_end weak_trace.
Proof. vm_compute. repeat split; discriminate. Qed.

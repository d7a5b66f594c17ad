(* K without one of its waits for the cache register. *)
(* weaken Registers.v s|Z.min J (pages_written rs L) + (if|Z.min J (pages_written rs L) - 1 + (if| *)
(* fails Cached.v late_is_covered *)
From Coq Require Import ZArith List Lia Bool.
From Rtflash Require Import Sums Demand Victims Sporadic Trace Check Closing Registers
  CheckRegisters.
Import ListNotations.
Open Scope Z_scope.

Definition weak_device : device := Device 1 2 1 3 2.
Definition weak_processor : processor := cached_stripe weak_device
  [Demanded true 2 1054 27 0; Demanded true 3 1062 52 0]
  (Stated 3 5 9 0 0 false []) 10 5 4.
Definition weak_trace : rtrace := RTrace
  [Job 17 17 69 (Req 1) 3 3;
   Job 22 22 25 (Gc 1) 0 0;
   Job 22 22 49 (Req 0) 2 2]
  [RStep 0 17 23 23 25 (AProg 1) false]
  9 25.
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
(* Job 1 misses its deadline, 25, by 1. *)
Example broken : over weak_trace 1 25 = false /\ j_due (vjb weak_trace 1) = 25 /\
  25 <= v_end weak_trace.
Proof. vm_compute. repeat split; discriminate. Qed.

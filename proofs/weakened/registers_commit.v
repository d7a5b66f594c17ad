(* B without the page that is committed behind the one that the array programs. *)
(* weaken Registers.v s|Z.max (t_w d) b + t_w d) else 0)|Z.max (t_w d) b) else 0)| *)
(* fails Cached.v late_is_covered *)
From Coq Require Import ZArith List Lia Bool.
From Rtflash Require Import Sums Demand Victims Sporadic Trace Check Closing Registers
  CheckRegisters.
Import ListNotations.
Open Scope Z_scope.

Definition weak_device : device := Device 1 8 3 1 1.
Definition weak_processor : processor := cached_stripe weak_device
  [Demanded false 2 1022 12 0; Demanded true 3 39 39 0]
  (Stated 46 3 8 0 0 false []) 11 3 5.
Definition weak_trace : rtrace := RTrace
  [Job 7 7 46 (Req 1) 3 3;
   Job 9 9 21 (Req 0) 0 2;
   Job 7 7 53 (Gc 1) 0 0]
  [RStep 0 7 8 8 16 (AProg 1) false;
   RStep 0 8 9 16 24 (AProg 1) false]
  8 21.
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
(* Job 1 misses its deadline, 21, by 6. *)
Example broken : over weak_trace 1 21 = false /\ j_due (vjb weak_trace 1) = 21 /\
  21 <= v_end weak_trace.
Proof. vm_compute. repeat split; discriminate. Qed.
